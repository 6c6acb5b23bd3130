/** Keys that cannot be had now. Says so in words that any caller may read; addresses and causes are for the log. */
export class KeysUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "KeysUnavailable";
  }
}
