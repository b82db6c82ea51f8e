import { type Admission, admit, byNetwork } from '../password/index.ts';
import type { KeyValueStore } from '../store/index.ts';

const hourMs = 60 * 60_000;
/** Codes of one member within an hour, to whichever addresses; nobody moves that often. */
const askedByMember = 5;
const askedByAddress = 20;
/** As many as the codes that may be asked for have. */
const guessesPerCode = 5;

/**
 * Counts another code, beside what `codes` counts per address and number: a member's account is no way to fill strangers'
 * mailboxes. Counted before anything is looked at, so that the count tells nothing of whose address it is.
 */
export function admitCode(
  kv: KeyValueStore,
  kind: string,
  { userId, ip }: { userId: string; ip: string },
): Promise<Admission> {
  return admit(kv, hourMs, [
    ['account', `contact-${kind}:member:${userId}`, askedByMember],
    ...byNetwork(`contact-${kind}:address`, ip, askedByAddress),
  ]);
}

/** Counts a guess at a code: whoever asks for codes to many addresses, and guesses at each, needs only one of them. */
export function admitGuess(
  kv: KeyValueStore,
  kind: string,
  { userId, ip }: { userId: string; ip: string },
): Promise<Admission> {
  return admit(kv, hourMs, [
    ['account', `contact-guess-${kind}:member:${userId}`, askedByMember * guessesPerCode],
    ...byNetwork(`contact-guess-${kind}:address`, ip, askedByAddress * guessesPerCode),
  ]);
}
