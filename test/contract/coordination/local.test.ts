import { createLocalCoordination } from "../../../services/coordination/local/local-coordination.ts";
import { describeCoordination } from "./coordination.contract.ts";

describeCoordination("local", async () => {
  let coordination = createLocalCoordination();
  return {
    replicas: () => [coordination, coordination],
    async forget() {
      await coordination.close();
      coordination = createLocalCoordination();
    },
    close: () => coordination.close(),
  };
});
