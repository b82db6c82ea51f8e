import type { SignUpRuleDeps } from './deps.ts';

/** Tells log and metrics how a step ended, whether it came by form or as JSON; never whose it was. */
export function logOutcome(
  { log, metrics }: Pick<SignUpRuleDeps, 'log' | 'metrics'>,
  step: 'begin' | 'resend' | 'confirm',
  outcome: string,
): void {
  log.info({ act: 'sign-up', step, outcome }, 'sign-up');
  metrics.signUp(step, outcome);
}
