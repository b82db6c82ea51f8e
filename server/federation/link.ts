import type { Request, Response } from 'express';
import type { Attempt } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import type { Answered } from './finish.ts';

/** The end of a link that was begun in the settings. @throws {FederationRefusal} */
export async function link(
  _deps: FederationDeps,
  _req: Request,
  _res: Response,
  _answered: Answered & { intent: Attempt['intent'] & { kind: 'link' } },
): Promise<void> {
  throw new Error('TO BE BUILT');
}
