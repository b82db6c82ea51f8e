import { ConfigurationError } from '../../config/load.ts';
import { PlansFileError } from '../../config/plans.ts';
import { ProvidersFileError } from '../../config/providers.ts';
import { describeUnavailable, StoreUnavailable, UnsealError } from '../store/index.ts';

/** A failed start, for a reason that the operator can repair. */
export class StartError extends Error {
  override name = 'CannotStart';
}

/** Errors that the operator can repair are printed in plain words, without a stack. */
export function toStartError(error: unknown): string {
  const mendable = [ConfigurationError, PlansFileError, ProvidersFileError, StartError];
  if (mendable.some((kind) => error instanceof kind)) return (error as Error).message;
  if (error instanceof StoreUnavailable) return describeUnavailable(error);
  if (error instanceof UnsealError) {
    return 'SECRET_KEY does not open what is stored: write the key that was in use before, behind the new one and a comma.';
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
