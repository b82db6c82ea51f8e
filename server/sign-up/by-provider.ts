import type { User } from '../account/index.ts';
import type { Upward } from '../federation/index.ts';
import type { Errand } from '../http/index.ts';
import type { SignUpDeps } from './deps.ts';

/** Settles the trial of a member whom a provider has just made one. @returns the step PLAN, where there is one */
export async function afterProvider(_deps: SignUpDeps, _user: User, _errand: Errand): Promise<string | undefined> {
  throw new Error('TO BE BUILT');
}

/** An account by a provider that does not vouch for the address: the code goes to it, and opens it. */
export async function beginByProvider(
  _deps: SignUpDeps,
  ..._given: Parameters<Upward['beginUnverified']>
): ReturnType<Upward['beginUnverified']> {
  throw new Error('TO BE BUILT');
}
