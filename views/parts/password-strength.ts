/**
 * The rule for new passwords, once: the server refuses by it, and the checklist beside the field shows it live. Nothing here
 * knows of requests or pages.
 */
const minCharacters = 8;
/** A name of one letter is in nearly every password. */
const minNameCharacters = 2;

/** The three lines of the checklist, in the specification's order. */
export const strengthRules = ['numberOrSymbol', 'length', 'notPersonal'] as const;
export type StrengthRule = (typeof strengthRules)[number];
export type Strength = Record<StrengthRule, boolean>;

/** What a password must not contain. Empty when unknown. */
export interface PersonalData {
  email: string;
  givenName?: string;
  familyName?: string;
}

/** How texts are compared: neither case nor the way in which a letter is composed makes a difference. */
const plain = (text: string) => text.normalize('NFKC').toLowerCase();
const length = (text: string) => [...text].length;

/** Which of the rules a password meets; all are needed. Passwords are taken as they are, never trimmed. */
export function passwordStrength(password: string, { email, givenName = '', familyName = '' }: PersonalData): Strength {
  const text = plain(password);
  const names = [email, givenName, familyName].map((name) => plain(name.trim()));
  return {
    numberOrSymbol: /[\p{N}\p{P}\p{S}]/u.test(password),
    length: length(password) >= minCharacters,
    notPersonal: !names.some((name) => length(name) >= minNameCharacters && text.includes(name)),
  };
}
