/** The topic of wake-ups that says: a token was revoked or rotated; forget what you know of them. */
export const CREDENTIALS_CHANGED = "credentials-changed";
