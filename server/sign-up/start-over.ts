import type { Request, Response } from 'express';
import type { SignUpDeps } from './deps.ts';

/** Start Over and Cancel: this browser forgets its sign-up. The sign-up waits for its owner until it expires. */
export async function restartSignUp({ flows }: SignUpDeps, req: Request, res: Response, to: string): Promise<void> {
  await flows.delete(flows.readCookie(req));
  flows.clearCookie(res);
  res.redirect(303, to);
}
