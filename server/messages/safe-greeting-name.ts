/**
 * Anyone can type a name into the sign-up form, and the mail goes to any address they typed: a name must not turn the
 * mail into someone's advertisement or link. The greeting omits texts that are not plainly a name.
 */
const maxLetters = 60;
const maxWords = 4;
/** Letters of any script with the usual separators of names: `Jean-Luc`, `O’Brien`, `J. R.`, `Dr. María`. */
const likeName = /^\p{L}[\p{L}\p{M}'’ʼ.\- ]*$/u;
/** A dot before letters may be an address: `evil.example`, `t.co`. */
const likeLink = /\.\p{L}{2}|www|http/iu;

/** The name for a mail, or undefined: then the greeting has none. */
export function safeGreetingName(name: string): string | undefined {
  const plain = name.normalize('NFKC').trim().replace(/ +/g, ' ');
  const fits = [...plain].length <= maxLetters && plain.split(' ').length <= maxWords;
  return fits && likeName.test(plain) && !likeLink.test(plain) ? plain : undefined;
}
