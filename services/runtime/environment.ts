/** The environment that a process of ours is given when another one starts it. */

/** This process' environment with some variables set. An existing value of `defaults` stays. */
export function environmentWith(
  settings: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>> = {},
): Record<string, string | undefined> {
  const present = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ""));
  return { ...defaults, ...present, ...settings };
}
