import { z } from 'zod';
import {
  type ApiOperation,
  callAction,
  codeField,
  defineOperation,
  doc,
  flowField,
  getRequestOrigin,
  HttpError,
  toRefusalError,
} from '../http/index.ts';
import { keysIn } from '../shared/index.ts';
import { requireCallingUser } from '../users/index.ts';
import { changeMfaPreference, mfaPreferenceRefusals, preferredMfaNames } from './mfa-preference.ts';
import { activateTotpAction, beginTotp, setupMinutes, type TotpEnrolmentDeps } from './totp.ts';

const preferredMfa = z
  .enum(Object.values(preferredMfaNames))
  .meta(doc('The second factor: SMS_MFA a text message, SOFTWARE_TOKEN_MFA an authenticator app, NOMFA none'));
type PreferredMfaName = z.infer<typeof preferredMfa>;

const toPreference = (name: PreferredMfaName) =>
  keysIn(preferredMfaNames).find((preference) => preferredMfaNames[preference] === name) ?? 'none';

const done = z
  .object({
    status: z.literal('SUCCESS').meta(doc('Always SUCCESS')),
    recoveryCodes: z
      .array(z.string().meta(doc('A recovery code', 'k7m2-9xqd-4tzw')))
      .optional()
      .meta(doc('Ten recovery codes, shown only this once, if the member had none')),
  })
  .meta({ id: 'SecondFactorChange', description: 'The second factor is changed.' });

const toSuccess = ({ recoveryCodes: codes }: { recoveryCodes?: string[] }) => ({
  status: 'SUCCESS' as const,
  ...(codes && { recoveryCodes: codes }),
});

function getPreferredMfa(deps: TotpEnrolmentDeps): ApiOperation {
  return defineOperation({
    method: 'get',
    path: '/identity/preferredMFA',
    id: 'getPreferredMFA',
    summary: 'Read the preferred second factor',
    description: 'What the sign-in asks this member for beside the password.',
    answer: z.object({ preferredMFA: preferredMfa }).meta({ id: 'PreferredMFA', description: 'The second factor.' }),
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
    summary: 'Change the preferred second factor',
    description:
      'Sets what the sign-in asks for beside the password. `SMS_MFA` needs a verified number, `SOFTWARE_TOKEN_MFA` an activated app; `NOMFA` removes app and recovery codes.',
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
    summary: 'Begin the set-up of an authenticator app',
    description: 'Makes a secret for an authenticator app. The sign-in asks for its codes after `verifyTOTPToken`.',
    answer: z
      .object({
        secretCode: z.string().meta(doc('The secret in base32 (RFC 4648)', 'JBSWY3DPEHPK3PXP')),
        uri: z
          .string()
          .meta(doc('The content of the QR code', 'otpauth://totp/Foyer:ada@example.com?secret=JBSWY3DPEHPK3PXP')),
        flow: z.string().meta(doc('A secret of the caller, for `verifyTOTPToken`', 'V1StGXR8Z5jdHi6BmyT3qK0cW7uN4oPx')),
        expiresInSeconds: z.int().meta(doc('Seconds for which the set-up can be completed', 900)),
      })
      .meta({ id: 'TOTPSetup', description: 'An authenticator app that is not active yet.' }),
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
    summary: 'Activate an authenticator app',
    description: 'Activates the app by one of its codes. From then on the sign-in asks for one.',
    body: z.object({ flow: flowField, code: codeField(100) }),
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
