/** The beginning of a text, of at most so many characters, and a sign that there is more. */
export function clipText(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 0) return "";
  const end = max - 1;
  // A pair that is cut in half is no character at all.
  const cut = /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
  return `${text.slice(0, cut)}…`;
}
