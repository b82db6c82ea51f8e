import { z } from 'zod';
import {
  type ApiOperation,
  callAction,
  defineOperation,
  getRequestOrigin,
  HttpError,
  toRefusalError,
} from '../http/index.ts';
import { flowIdSchema, keysIn } from '../shared/index.ts';
import { requireCallingUser } from '../users/index.ts';
import { changeMfaPreference, mfaPreferenceRefusals, preferredMfaNames } from './mfa-preference.ts';
import { activateTotpAction, beginTotp, setupMinutes, type TotpEnrolmentDeps } from './totp.ts';

const preferredMfa = z.enum(Object.values(preferredMfaNames));
type PreferredMfaName = z.infer<typeof preferredMfa>;

const toPreference = (name: PreferredMfaName) =>
  keysIn(preferredMfaNames).find((preference) => preferredMfaNames[preference] === name) ?? 'none';

const recoveryCodes = z.array(z.string()).optional();
/** `recoveryCodes`: ten of them, returned only this once, if the user had none. */
const done = z.object({ status: z.literal('SUCCESS'), recoveryCodes });

const toSuccess = ({ recoveryCodes: codes }: { recoveryCodes?: string[] }) => ({
  status: 'SUCCESS' as const,
  ...(codes && { recoveryCodes: codes }),
});

function getPreferredMfa(deps: TotpEnrolmentDeps): ApiOperation {
  return defineOperation({
    method: 'get',
    path: '/identity/preferredMFA',
    id: 'getPreferredMFA',
    summary: 'What the sign-in asks this member for beside the password',
    answer: z.object({ preferredMFA: preferredMfa }),
    async handle({ req }) {
      const { mfaPreference } = await requireCallingUser(req, deps.database);
      return { preferredMFA: preferredMfaNames[mfaPreference] };
    },
  });
}

function setPreferredMfa(deps: TotpEnrolmentDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/preferredMFA',
    id: 'setPreferredMFA',
    summary:
      'Sets what the sign-in asks for beside the password. SMS_MFA needs a verified number, SOFTWARE_TOKEN_MFA an activated app; NOMFA removes app and recovery codes. The member must have signed in within ten minutes',
    body: z.object({ preferredMFA: preferredMfa }),
    answer: done,
    problems: { 409: 'The member has not set up this second factor, or must keep one' },
    async handle({ req, body }) {
      const user = await requireCallingUser(req, deps.database);
      const preference = toPreference(body.preferredMFA);
      const preferred = await changeMfaPreference(deps, user, { preference, from: getRequestOrigin(req) });
      switch (preferred.kind) {
        case 'unchanged':
          return toSuccess({});
        case 'set':
          return toSuccess(preferred);
        case 'not-found':
          throw new HttpError('unauthorized', { detail: 'user or password has changed' });
        case 'refused':
          throw toRefusalError(mfaPreferenceRefusals, { kind: preferred.why });
      }
    },
  });
}

function setUpTotp(deps: TotpEnrolmentDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/setupTOTP',
    id: 'setupTOTP',
    summary:
      'Makes a secret for an authenticator app; nothing asks for its codes before verifyTOTPToken. The member must have signed in within ten minutes',
    answer: z.object({
      /** Base32 (RFC 4648). */
      secretCode: z.string(),
      /** The content of the QR code: `otpauth://…`. */
      uri: z.string(),
      /** A secret: it is required to continue the set-up. */
      flow: z.string(),
      expiresInSeconds: z.int(),
    }),
    async handle({ req }) {
      const user = await requireCallingUser(req, deps.database);
      const { secret, uri, setupId } = await beginTotp(deps, user);
      return { secretCode: secret, uri, flow: setupId, expiresInSeconds: setupMinutes * 60 };
    },
  });
}

function verifyTotp(deps: TotpEnrolmentDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/verifyTOTPToken',
    id: 'verifyTOTPToken',
    summary:
      'Activates the authenticator app by one of its codes: from now on the sign-in asks for one. The member must have signed in within ten minutes',
    body: z.object({ flow: flowIdSchema.max(100), code: z.string().max(100) }),
    answer: done,
    async handle({ req, body }) {
      const user = await requireCallingUser(req, deps.database);
      const caller = { user, from: getRequestOrigin(req), setupId: body.flow };
      return toSuccess(await callAction(activateTotpAction, { deps, caller, texts: { code: body.code } }));
    },
  });
}

/** The identity service operations of this module: the same rules as behind its pages. */
export function mfaOperations(deps: TotpEnrolmentDeps): ApiOperation[] {
  return [getPreferredMfa(deps), setPreferredMfa(deps), setUpTotp(deps), verifyTotp(deps)];
}
