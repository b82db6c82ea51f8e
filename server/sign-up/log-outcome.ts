import { toPublicOutcome } from '../shared/index.ts';
import type { SignUpRuleDeps } from './deps.ts';

/** Reports the result of a step to log and metrics, from a form or a JSON call; never the address. */
export function logOutcome(
  { log, metrics }: Pick<SignUpRuleDeps, 'log' | 'metrics'>,
  step: 'begin' | 'resend' | 'confirm',
  result: string,
): void {
  const outcome = toPublicOutcome(result);
  log.info({ act: 'sign-up', step, outcome }, 'sign-up');
  metrics.signUp(step, outcome);
}
