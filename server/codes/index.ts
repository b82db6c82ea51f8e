/**
 * The module of one-time codes: six digits that prove an address or a number (NIST SP 800-63B, section 3.1.3.3;
 * `security.md`, rule 13).
 * Owns how a code is made, bound, counted and used up. Does not own how a code reaches the user (messages/) nor what it
 * authorizes.
 */
export {
  type CodeCheck,
  type CodePurpose,
  type Codes,
  codeDigits,
  codeMinutes,
  createCodes,
  type IssuedCode,
  resendWaitMs,
} from './one-time-codes.ts';
export { normaliseCode } from './whole-code.ts';
