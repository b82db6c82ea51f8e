import { useEffect, useRef, useState } from 'react';
import { type PaymentActionProps, PaymentActionView } from '../../views/billing/payment-action.tsx';
import { type Failure, loadStripe } from '../stripe.ts';

/**
 * Shows the bank's authentication by Stripe, then asks the server for the result of the payment; says why it failed.
 */
export default function PaymentAction(props: PaymentActionProps) {
  const [problem, setProblem] = useState<string>();
  const outcome = useRef<HTMLFormElement>(null);

  useEffect(() => {
    const { clientSecret, paymentMethodId, refusals, failed } = props;
    const explain = ({ decline_code, code, message }: Failure) =>
      refusals[decline_code as string] ?? refusals[code as string] ?? message ?? failed;
    async function authenticate(): Promise<string | undefined> {
      const stripe = await loadStripe(props);
      const { paymentIntent, error } = await stripe.retrievePaymentIntent(clientSecret);
      if (!paymentIntent) return explain(error);
      const { status } = paymentIntent;
      if (status === 'succeeded' || status === 'processing') return undefined;
      // A charge that the bank refused without authentication is confirmed again, now that the user is present.
      const answered =
        status === 'requires_action'
          ? await stripe.handleNextAction({ clientSecret })
          : await stripe.confirmCardPayment(clientSecret, paymentMethodId ? { payment_method: paymentMethodId } : {});
      return answered.error && explain(answered.error);
    }
    authenticate().then(
      (message) => (message === undefined ? outcome.current?.submit() : setProblem(message)),
      () => setProblem(props.notLoaded),
    );
  }, [props]);

  return <PaymentActionView {...props} problem={problem} outcome={outcome} />;
}
