/** Who holds what, and who was seen. */
import { readRoute, type Route } from "./route.ts";

export const CLAIM_ROUTES: readonly Route[] = [
  readRoute({ path: "/claims", area: "Claims", summary: "List claims", operation: "list_claims" }),
  readRoute({ path: "/agents", area: "Agents", summary: "List agents", operation: "list_agents" }),
];
