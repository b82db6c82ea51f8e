import { StandInError } from './engine/types.ts';

/** The body of an answer that is an error (docs.stripe.com/api/errors). */
export function errorBody(error: StandInError, requestId: string) {
  const { type, code, declineCode, param, message, paymentIntent, setupIntent } = error;
  return {
    error: {
      ...(code !== undefined && { code }),
      ...(declineCode !== undefined && { decline_code: declineCode }),
      ...(code !== undefined && { doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}` }),
      message,
      ...(param !== undefined && { param }),
      ...(paymentIntent !== undefined && { payment_intent: paymentIntent }),
      request_log_url: `https://dashboard.stripe.com/test/logs/${requestId}`,
      ...(setupIntent !== undefined && { setup_intent: setupIntent }),
      type,
    },
  };
}

/** An unexpected fault of the stand-in itself, in Stripe's format. */
export const asStandInError = (error: unknown): StandInError =>
  error instanceof StandInError
    ? error
    : new StandInError(`An error occurred in the stand-in: ${error instanceof Error ? error.message : error}`, {
        status: 500,
        type: 'api_error',
      });

/**
 * Tests whether an error is stored under its idempotency key. Errors before the execution are not stored: a corrected
 * attempt may use the key.
 */
export function isStorable(error: StandInError): boolean {
  if (error.status === 401 || error.status === 409 || error.status === 429 || error.status >= 500) return false;
  return !error.code?.startsWith('parameter_');
}
