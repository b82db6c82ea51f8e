import type { Request } from 'express';
import { z } from 'zod';
import type { HostCookies, HttpExchange } from '../http/index.ts';
import { type FlowId, toUserId } from '../shared/index.ts';
import {
  type BrowserRecords,
  browserRecords,
  type Database,
  type KeyValueStore,
  type RecordCookie,
} from '../store/index.ts';
import { findUser, type User } from '../users/index.ts';
import type { UnverifiedState } from './sign-up-state.ts';
import { findSignUp, type SignUp, signUpTtlMs } from './sign-up-store.ts';

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

/** Makes a flow the browser's own, in place of an earlier one. */
export async function setSignUpRecord(
  { req, res }: HttpExchange,
  { flows }: { flows: SignUpRecords },
  id: FlowId,
): Promise<void> {
  await flows.delete(flows.readCookie(req));
  flows.setCookie(res, id);
}

interface ReadDeps {
  database: Database;
  flows: SignUpRecords;
  now: () => number;
}

/** The state of the account that a flow confirms, with its stored data. */
export type UnverifiedAccount =
  | (Exclude<UnverifiedState, { kind: 'unverified-user' }> & { signUp: SignUp })
  | (Extract<UnverifiedState, { kind: 'unverified-user' }> & { user: User });

/** Undefined if there is nothing to confirm: it has expired, is already confirmed, or the user is deleted. */
export async function findUnverifiedAccount(
  { database, now }: Omit<ReadDeps, 'flows'>,
  flow: Pick<SignUpRecord, 'kind' | 'id'>,
): Promise<UnverifiedAccount | undefined> {
  if (flow.kind === 'user') {
    const user = await findUser(database.db, toUserId(flow.id));
    return user && !user.emailVerified ? { kind: 'unverified-user', email: user.email, user } : undefined;
  }
  const signUp = await findSignUp(database.db, flow.id, now());
  if (!signUp || signUp.state === 'confirmed') return undefined;
  return { kind: signUp.state === 'decoy' ? 'decoy' : 'unverified', email: signUp.email, signUp };
}

/** A flow, and the account that it can still confirm. */
export interface PendingVerification {
  id: FlowId;
  flow: SignUpRecord;
  account: UnverifiedAccount;
}

export async function findVerification(deps: ReadDeps, id: FlowId): Promise<PendingVerification | undefined> {
  const flow = await deps.flows.find(id);
  const account = flow && (await findUnverifiedAccount(deps, flow));
  return account && { id, flow, account };
}

/** The browser's own. */
export const findPendingVerification = (req: Request, deps: ReadDeps): Promise<PendingVerification | undefined> =>
  findVerification(deps, deps.flows.readCookie(req));
