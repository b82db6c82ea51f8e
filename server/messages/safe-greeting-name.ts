/**
 * Names come from whoever fills the form of sign-up in, and the mail goes to whatever address they gave: a name must not
 * make our mail carry somebody's advertisement or link. What is not plainly a name is not greeted by.
 */
const maxLetters = 60;
const maxWords = 4;
/** Letters of any script with what stands between them in names: `Jean-Luc`, `O’Brien`, `J. R.`, `Dr. María`. */
const likeName = /^\p{L}[\p{L}\p{M}'’ʼ.\- ]*$/u;
/** A dot with letters behind it may be an address: `evil.example`, `t.co`. */
const likeLink = /\.\p{L}{2}|www|http/iu;

/** The name as it may stand in a mail, or undefined: then the mail greets without one. */
export function safeGreetingName(name: string): string | undefined {
  const plain = name.normalize('NFKC').trim().replace(/ +/g, ' ');
  const fits = [...plain].length <= maxLetters && plain.split(' ').length <= maxWords;
  return fits && likeName.test(plain) && !likeLink.test(plain) ? plain : undefined;
}
