/**
 * The rule for new passwords, in one place: the server enforces it, and the checklist beside the field shows it live.
 * It does not know requests or pages.
 */
const minCharacters = 8;
/** Nearly every password contains a name of one letter. */
const minNameCharacters = 2;

/** The three lines of the checklist, in the specification's order. */
export const strengthRules = ['numberOrSymbol', 'length', 'notPersonal'] as const;
export type StrengthRule = (typeof strengthRules)[number];
export type Strength = Record<StrengthRule, boolean>;

/** Values that a password must not contain. Empty if unknown. */
export interface PersonalData {
  email: string;
  givenName?: string;
  familyName?: string;
}

/** Normalizes texts for comparison: ignores case and the composition of letters. */
const plain = (text: string) => text.normalize('NFKC').toLowerCase();
const length = (text: string) => [...text].length;

/** The rules that a password meets; all are required. Passwords are used unchanged, never trimmed. */
export function passwordStrength(password: string, { email, givenName = '', familyName = '' }: PersonalData): Strength {
  const text = plain(password);
  const names = [email, givenName, familyName].map((name) => plain(name.trim()));
  return {
    numberOrSymbol: /[\p{N}\p{P}\p{S}]/u.test(password),
    length: length(password) >= minCharacters,
    notPersonal: !names.some((name) => length(name) >= minNameCharacters && text.includes(name)),
  };
}
