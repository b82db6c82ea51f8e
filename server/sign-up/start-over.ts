import type { RequestContext } from '../http/index.ts';
import type { SignUpDeps } from './deps.ts';

/** Start Over and Cancel: this browser forgets its sign-up. The sign-up waits for its owner until it expires. */
export async function restartSignUp(r: RequestContext, { flows }: SignUpDeps, address: string): Promise<void> {
  await flows.delete(flows.readCookie(r.req));
  flows.clearCookie(r.res);
  r.redirect(address);
}
