import { z } from 'zod';
import type { NextPage } from '../../http/index.ts';
import { minuteMs } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import { storedRecords } from '../../store/index.ts';
import type { AccountDeps } from '../deps.ts';
import { endOthersIfTicked } from '../devices/end-others.ts';
import { accountHomeAfter, type SettingsNotice } from '../notices.ts';
import { codesPath } from '../paths.ts';
import { takeEnrolmentReturn } from './enrolment-return.ts';

/** Between their creation and the page that shows them. */
const ttlMs = 10 * minuteMs;

const schema = z.object({
  codes: z.array(z.string()),
  /** The factor that was enabled with them (`SettingsNotice`). */
  done: z.string().optional(),
});

/** New recovery codes, for the one page that shows them. */
export type NewRecoveryCodes = z.infer<typeof schema>;

/** Sealed, under the session's id: neither an address nor the store reveals them. */
export const newRecoveryCodes = ({ kv, mfaBox: seal }: AccountDeps) =>
  storedRecords({ kv, kind: 'new-recovery-codes', schema, ttlMs, seal });

/**
 * The code that activates a second factor also counts as presenting it: rotates the session id, adds the factor to
 * `amr`, and keeps the time of authentication. Otherwise the user would have to enter another code at the very next
 * step.
 * @param method the presented one (RFC 8176)
 * @returns the request, with the new session
 */
async function recordPresentedFactor(
  r: UserRequest,
  { sessions }: AccountDeps,
  method: 'otp' | 'sms',
): Promise<UserRequest> {
  const { amr, remember, authTimeMs } = r.session;
  if (amr.includes('mfa')) return r;
  const session = await sessions.createSession(r, r.user, {
    amr: [...amr, method, 'mfa'],
    remember,
    authTimeMs,
    onlyIfLive: true,
  });
  return Object.assign(r, { session });
}

interface EnabledFactor {
  /** The factor whose code was just presented. */
  presented?: 'otp' | 'sms';
  done: SettingsNotice;
  /** The new recovery codes; undefined: the earlier ones stay. */
  codes: string[] | undefined;
}

/**
 * Continues after a second factor was enabled.
 * @returns the address of the new recovery codes if there are any, else the target of a user who had to set it up
 */
export async function afterEnablingFactor(
  r: UserRequest,
  deps: AccountDeps,
  { presented, done, codes }: EnabledFactor,
): Promise<NextPage> {
  const current = presented === undefined ? r : await recordPresentedFactor(r, deps, presented);
  await endOthersIfTicked(current, deps);
  if (codes === undefined) return takeEnrolmentReturn(current, deps) ?? accountHomeAfter(done);
  await newRecoveryCodes(deps).write(current.session.idHash, { codes, done });
  return codesPath;
}
