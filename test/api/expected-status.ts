import type { ApiAccess, ApiOperation, ApiScope, MemberApiScope } from '../../server/http/index.ts';
import type { TestFoyer } from '../support/foyer.ts';
import type { Credentials } from './callers.ts';

export interface Caller {
  credentials(foyer: TestFoyer): Promise<Credentials & { is?: string }>;
  /** The status that a guarded call answers to this caller, from its access and method alone. */
  expected(access: ApiAccess, method: ApiOperation['method']): number;
}

export const always = (status: number) => () => status;
export const asMember = ({ member }: ApiAccess) => (member ? 200 : 403);
/** A token of a member allows the calls of its scopes and no others. */
export const withMemberScope =
  (...scopes: MemberApiScope[]): Caller['expected'] =>
  ({ member }) =>
    member !== undefined && scopes.includes(member) ? 200 : 403;
/** The same, from an authentication that is not recent. */
export const late =
  (expected: Caller['expected']): Caller['expected'] =>
  (access, method) =>
    expected(access, method) === 200 && access.recent === true ? 401 : expected(access, method);
/** The same, from an authentication without the second factor that the member has. */
export const withoutFactor =
  (expected: Caller['expected']): Caller['expected'] =>
  (access, method) =>
    expected(access, method) === 200 && access.recent !== undefined ? 401 : expected(access, method);
/** Reading is allowed; changes wait until the member accepts the terms. */
export const asReader = ({ member, reads }: ApiAccess, method: ApiOperation['method']) =>
  member && (reads || method === 'get') ? 200 : 403;
/** By a token with `account`. */
export const asTokenReader: Caller['expected'] = (access, method) =>
  access.member === 'account' ? asReader(access, method) : 403;
export const asClient = ({ client }: ApiAccess) => (client === undefined ? 403 : 200);
export const withScope =
  (scope: ApiScope) =>
  ({ client }: ApiAccess) =>
    client === scope ? 200 : 403;
