import type { Request } from 'express';
import { createFlowStore, type FlowStore } from '../codes/index.ts';
import type { HostCookies } from '../http/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { keptMs } from './sign-up-store.ts';

/** The way of one browser (or of one caller of the JSON API) from an account that is not confirmed to one that is. */
export interface Flow {
  /** `sign-up`: an account that was begun; `user`: a member whose address is not confirmed. */
  kind: 'sign-up' | 'user';
  id: string;
  /** As it was ticked at the sign-in that led here. */
  remember: boolean;
  /** When the last code went out; undefined: none could. */
  sentAtMs?: number | undefined;
  /** That one was asked for by Resend. */
  resent?: boolean | undefined;
  /** It is over. */
  confirmedAtMs?: number | undefined;
}

export type Flows = FlowStore<Flow>;

export const createFlows = (kv: KeyValueStore, cookies: HostCookies): Flows =>
  createFlowStore(kv, cookies, { kind: 'sign-up-flow', cookie: { name: 'foyer_sign_up' }, keptMs });

/** The browser's own. */
export async function flowOf(flows: Flows, req: Request): Promise<{ id: string; flow: Flow } | undefined> {
  const id = flows.idOf(req);
  const flow = await flows.find(id);
  return flow && { id, flow };
}
