import type { Request, Response } from 'express';
import type { Confirmations } from '../sign-in/index.ts';
import type { SignUpDeps } from './deps.ts';
import type { Flow } from './flows.ts';
import { sendCodeTo } from './resend.ts';
import { newestUnconfirmed } from './sign-up-store.ts';
import { unconfirmedOf } from './unconfirmed.ts';

/** A new flow in this browser for somebody who has shown who they are, and a code for it if the address may have one. */
export async function beginConfirmation(
  deps: SignUpDeps,
  req: Request,
  res: Response,
  whom: Pick<Flow, 'kind' | 'id' | 'remember'>,
): Promise<void> {
  const { flows, devices } = deps;
  const found = await unconfirmedOf(deps, whom);
  const flow: Flow = { kind: whom.kind, id: whom.id, remember: whom.remember };
  const id = flows.newId();
  await flows.write(id, flow);
  if (found) {
    const device = found.kind === 'user' ? devices.recognise(req, found.user) : undefined;
    // Where the address, or this network, has had its share, the page says so, and Resend why.
    await sendCodeTo(deps, { id, flow }, found, { lang: req.language, ip: req.ip ?? '', device });
  }
  await flows.delete(flows.readCookie(req));
  flows.setCookie(res, id);
}

/** For the room of signing in. The password was right; nothing of it is kept. */
export function createConfirmations(deps: SignUpDeps): Confirmations {
  return {
    begunWith: (email) => newestUnconfirmed(deps.database.db, email, deps.now()),
    async begin(req, res, { errand, ...whom }) {
      await beginConfirmation(deps, req, res, whom);
      return `/verify-code${errand.search}`;
    },
  };
}
