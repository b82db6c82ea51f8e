import type { Request, Response } from 'express';
import type { FederationDeps } from './deps.ts';
import type { Answered } from './finish.ts';

/** Carries out what `decide` says. @throws {FederationRefusal} */
export async function signInAs(
  _deps: FederationDeps,
  _req: Request,
  _res: Response,
  _answered: Answered,
): Promise<void> {
  throw new Error('TO BE BUILT');
}
