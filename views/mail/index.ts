import type { ReactElement } from 'react';
import type { TextKey } from '../../locales/index.ts';
import { AccountExists, FirstPassword, Welcome } from './account-mails.tsx';
import { ChangeEmail, PasswordReset, SignInCode, VerifyEmail } from './code-mails.tsx';
import { EmailChangeAsked, EmailChanged, EmailUndone } from './contact-mails.tsx';
import {
  DeletionAsked,
  DeletionCancelled,
  FactorResetAsked,
  FactorResetCancelled,
  FactorResetDone,
} from './deletion-mails.tsx';
import { CardChanged, CardRemoved, PaymentActionRequired, PaymentFailed, Receipt, RefundMade } from './money-mails.tsx';
import { PlanCancelled, PlanChanges, PlanEnded, TrialEnds } from './plan-mails.tsx';
import { NewDevice, PasswordChanged, RecoveryCodeUsed, SecondFactorGuessed, SecurityNotice } from './warning-mails.tsx';

export { coloured, type MailColour, type MailColours, type MailContext } from './mail-context.ts';
export type { MailProps } from './mail-props.ts';

/** The product's own mails: each with the key of its subject and its component. */
export const mailViews = {
  'verify-email': { subject: 'mail.verifyEmail.subject', Mail: VerifyEmail },
  welcome: { subject: 'mail.welcome.subject', Mail: Welcome },
  'password-reset': { subject: 'mail.passwordReset.subject', Mail: PasswordReset },
  'sign-in-code': { subject: 'mail.signInCode.subject', Mail: SignInCode },
  'password-changed': { subject: 'mail.passwordChanged.subject', Mail: PasswordChanged },
  'account-exists': { subject: 'mail.accountExists.subject', Mail: AccountExists },
  'first-password': { subject: 'mail.firstPassword.subject', Mail: FirstPassword },
  'new-device': { subject: 'mail.newDevice.subject', Mail: NewDevice },
  'recovery-code-used': { subject: 'mail.recoveryCodeUsed.subject', Mail: RecoveryCodeUsed },
  'second-factor-guessed': { subject: 'mail.secondFactorGuessed.subject', Mail: SecondFactorGuessed },
  'change-email': { subject: 'mail.changeEmail.subject', Mail: ChangeEmail },
  'email-change-asked': { subject: 'mail.emailChangeRequested.subject', Mail: EmailChangeAsked },
  'email-changed': { subject: 'mail.emailChanged.subject', Mail: EmailChanged },
  'email-undone': { subject: 'mail.emailUndone.subject', Mail: EmailUndone },
  'security-notice': { subject: 'mail.securityNotice.subject', Mail: SecurityNotice },
  'deletion-asked': { subject: 'mail.deletionRequested.subject', Mail: DeletionAsked },
  'deletion-cancelled': { subject: 'mail.deletionCancelled.subject', Mail: DeletionCancelled },
  'factor-reset-asked': { subject: 'mail.factorResetRequested.subject', Mail: FactorResetAsked },
  'factor-reset-cancelled': { subject: 'mail.factorResetCancelled.subject', Mail: FactorResetCancelled },
  'factor-reset-done': { subject: 'mail.factorResetDone.subject', Mail: FactorResetDone },
  receipt: { subject: 'mail.receipt.subject', Mail: Receipt },
  'payment-failed': { subject: 'mail.paymentFailed.subject', Mail: PaymentFailed },
  'payment-action-required': { subject: 'mail.paymentActionRequired.subject', Mail: PaymentActionRequired },
  'trial-ends': { subject: 'mail.trialEnds.subject', Mail: TrialEnds },
  'plan-cancelled': { subject: 'mail.planCancelled.subject', Mail: PlanCancelled },
  'plan-ended': { subject: 'mail.planEnded.subject', Mail: PlanEnded },
  'plan-changes': { subject: 'mail.planChanges.subject', Mail: PlanChanges },
  'refund-made': { subject: 'mail.refundMade.subject', Mail: RefundMade },
  'card-changed': { subject: 'mail.cardChanged.subject', Mail: CardChanged },
  'card-removed': { subject: 'mail.cardRemoved.subject', Mail: CardRemoved },
} as const satisfies Record<string, { subject: TextKey; Mail: (props: never) => ReactElement }>;
