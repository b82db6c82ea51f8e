import type { Request } from 'express';
import { z } from 'zod';
import type { HostCookies } from '../http/index.ts';
import type { FlowId } from '../shared/index.ts';
import { type BrowserRecords, browserRecords, type KeyValueStore, type RecordCookie } from '../store/index.ts';
import { signUpTtlMs } from './sign-up-store.ts';

const schema = z.object({
  /** `sign-up`: an unconfirmed sign-up; `user`: a user whose address is unconfirmed. */
  kind: z.enum(['sign-up', 'user']),
  id: z.string(),
  /** The checkbox of the sign-in form that led here. */
  remember: z.boolean(),
  /** Time of the last code; undefined: none could be sent. */
  sentAtMs: z.number().optional(),
  /** It was requested with Resend. */
  resent: z.boolean().optional(),
  /** The flow is over. */
  confirmedAtMs: z.number().optional(),
});

/** The confirmation flow of one browser (or of one caller of the JSON API). */
export type SignUpRecord = z.infer<typeof schema>;

export type SignUpRecords = BrowserRecords<SignUpRecord> & RecordCookie;

export const createSignUpRecords = (kv: KeyValueStore, cookies: HostCookies): SignUpRecords =>
  browserRecords({ kv, kind: 'sign-up-flow', schema, ttlMs: signUpTtlMs, cookie: { cookies, name: 'foyer_sign_up' } });

/** The browser's own. */
export async function findSignUpRecord(
  req: Request,
  { flows }: { flows: SignUpRecords },
): Promise<{ id: FlowId; flow: SignUpRecord } | undefined> {
  const id = flows.readCookie(req);
  const flow = await flows.find(id);
  return flow && { id, flow };
}
