/** What an adapter writes: one line whenever the store is lost or found. Fits a pino logger. */
export interface CoordinationLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}
