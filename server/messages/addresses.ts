/**
 * One plain address (RFC 5321's Mailbox without quoted local parts): no part of it can end a header, name a second
 * recipient or be read as a display name.
 */
const mailAddress = /^[^\s\p{Cc}\p{Cf}<>()[\]\\,;:"@]{1,64}@(?=.{1,253}$)[\p{L}\p{N}-]{1,63}(\.[\p{L}\p{N}-]{1,63})*$/u;

export function isMailAddress(text: string): boolean {
  return text.length <= 254 && mailAddress.test(text);
}

const maxHeaderCharacters = 250;

/** Text for a header: one line, without characters that could start another one. */
export function toHeaderText(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return [...line].slice(0, maxHeaderCharacters).join('');
}
