import { z } from 'zod';
import { callNumbers, flag, webAddress, whole } from './value-rules.ts';

/** The variables for sessions, second factors, passwords and limits of attempts: a part of the schema in `schema.ts`. */
export const signInVariables = {
  /** Unset: true in production. */
  PREVENT_USER_EXISTENCE_ERRORS: flag.optional(),
  SESSION_IDLE_MINUTES: whole(1, 10_080).default(120),
  /** From the sign-in, however much the session is used; remembered sessions have REMEMBER_ME_DAYS instead. */
  SESSION_MAX_HOURS: whole(1, 720).default(24),
  REMEMBER_ME_DAYS: whole(1, 365).default(30),
  /** How long a device skips the second factor, if the user ticks that. */
  MFA_REMEMBER_DAYS: whole(1, 365).default(30),
  /** Between `foyer user reset-mfa` and its effect: the user can cancel it. */
  MFA_RESET_WAIT_HOURS: whole(1, 720).default(72),
  KEYS_REFRESH_SECONDS: whole(1, 300).default(5),

  /**
   * The cost of one hash; at least OWASP's minimum for argon2id. Their product stays below the maximum work of a
   * sign-in.
   */
  ARGON2_MEMORY_KIB: whole(19_456, 131_072).default(19_456),
  ARGON2_PASSES: whole(2, 8).default(2),
  PASSWORD_QUEUE_MAX: whole(1, 10_000).default(200),
  PASSWORD_QUEUE_WAIT_MS: whole(100, 60_000).default(8_000),
  /** For one account, running or waiting: from unknown devices, and as many from known ones. */
  PASSWORD_QUEUE_ACCOUNT: whole(1, 10_000).default(4),
  /** For one address, from unknown devices. */
  PASSWORD_QUEUE_ADDRESS: whole(1, 10_000).default(10),
  /** The status of the answer while the queue is full. */
  PASSWORD_QUEUE_FULL_STATUS: z
    .enum(['503', '429'], 'write 503 or 429')
    .transform((status) => (status === '429' ? 429 : 503))
    .default(503),
  PASSWORD_QUEUE_RETRY_SECONDS: whole(1, 3_600).default(5),
  /** A range interface of Have I Been Pwned for new passwords. */
  BREACHED_PASSWORDS_API: webAddress.optional(),
  GUESS_WINDOW_MINUTES: whole(1, 1_440).default(15),
  GUESS_LIMIT_ACCOUNT: whole(1, 1_000_000).default(10),
  GUESS_LIMIT_DEVICE: whole(1, 1_000_000).default(20),
  GUESS_LIMIT_ADDRESS: whole(1, 1_000_000).default(50),
  GUESS_LIMIT_OVERALL: whole(1, 100_000_000).default(5_000),
  /** Requests per second from strangers while a shared limit is full. */
  OVERALL_LANE_PER_SECOND: whole(1, 1_000).default(5),
  /** Right passwords an hour: of one user from one known device, and from all. */
  PASSWORD_LIMIT_DEVICE: whole(1, 1_000_000).default(30),
  PASSWORD_LIMIT_MEMBER: whole(1, 1_000_000).default(60),
  SIGN_UP_WINDOW_MINUTES: whole(1, 1_440).default(60),
  SIGN_UP_LIMIT_ADDRESS: whole(1, 1_000_000).default(20),
  COMPANY_LIMIT_ADDRESS: whole(1, 1_000_000).default(300),
  SIGN_UP_LIMIT_OVERALL: whole(1, 100_000_000).default(2_000),
  /** Calls of the JSON API a minute, each call apart: of a member or service, of an address, of a service for visitors. */
  API_LIMIT_CALLER: whole(1, 1_000_000).default(300),
  API_LIMIT_ADDRESS: whole(1, 1_000_000).default(300),
  API_LIMIT_VISITORS: whole(1, 1_000_000).default(3_000),
  /** The same for single calls, by their id. */
  API_LIMIT_CALLS: callNumbers.optional(),
};
