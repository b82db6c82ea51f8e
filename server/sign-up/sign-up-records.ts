import type { Request } from 'express';
import { z } from 'zod';
import type { HostCookies } from '../http/index.ts';
import { type BrowserRecords, browserRecords, type KeyValueStore, type RecordCookie } from '../store/index.ts';
import { signUpTtlMs } from './sign-up-store.ts';

const schema = z.object({
  /** `sign-up`: an account that was begun; `user`: a member whose address is not confirmed. */
  kind: z.enum(['sign-up', 'user']),
  id: z.string(),
  /** As it was ticked at the sign-in that led here. */
  remember: z.boolean(),
  /** When the last code went out; undefined: none could. */
  sentAtMs: z.number().optional(),
  /** That one was asked for by Resend. */
  resent: z.boolean().optional(),
  /** It is over. */
  confirmedAtMs: z.number().optional(),
});

/** The way of one browser (or of one caller of the JSON API) from an account that is not confirmed to one that is. */
export type SignUpRecord = z.infer<typeof schema>;

export type SignUpRecords = BrowserRecords<SignUpRecord> & RecordCookie;

export const createSignUpRecords = (kv: KeyValueStore, cookies: HostCookies): SignUpRecords =>
  browserRecords({ kv, kind: 'sign-up-flow', schema, ttlMs: signUpTtlMs, cookie: { cookies, name: 'foyer_sign_up' } });

/** The browser's own. */
export async function findSignUpRecord(
  flows: SignUpRecords,
  req: Request,
): Promise<{ id: string; flow: SignUpRecord } | undefined> {
  const id = flows.readCookie(req);
  const flow = await flows.find(id);
  return flow && { id, flow };
}
