/** Wall clocks that are off: tokens are judged by them, and logs are read by them. */
import { fault, type Finding, type Patient, seconds, well } from "../finding.ts";

const CHECK = "clock";
const SKEW_MS_MAX = 5_000;

export async function lookAtClock({ diagnosis }: Patient): Promise<Finding> {
  const here = await diagnosis.skewMs();
  const off = (await diagnosis.processes()).filter(({ skewMs }) => isOff(skewMs));
  if (!isOff(here) && off.length === 0)
    return well(CHECK, `within ${seconds(SKEW_MS_MAX)} of the database's`);
  const said = [
    ...(isOff(here) ? [`this machine is ${describe(here)}`] : []),
    ...off.map((one) => `${one.kind} ${one.pid} on ${one.host} is ${describe(one.skewMs)}`),
  ];
  const mend =
    "Let NTP set the clock of every machine, the database's first: claims go by that one, tokens by each server's own.";
  return fault(CHECK, `against the database's clock, ${said.join("; ")}`, mend);
}

const isOff = (skewMs: number): boolean => Math.abs(skewMs) > SKEW_MS_MAX;

function describe(skewMs: number): string {
  return `${seconds(Math.abs(skewMs))} ${skewMs > 0 ? "ahead" : "behind"}`;
}
