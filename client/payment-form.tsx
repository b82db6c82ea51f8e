import { type FormEvent, useEffect, useRef, useState } from 'react';
import { type CardFormProps, PaymentFormView } from '../views/billing/card-form.tsx';
import { openPayment, type PaymentFields } from './stripe.ts';

interface Live {
  ready?: boolean;
  busy?: boolean;
  problem?: string | undefined;
}

/**
 * Mounts Stripe's payment element, lets Stripe check and store the payment method, and posts only the setup intent's id.
 * A bank of a redirect leads back to this page by itself.
 */
export function PaymentForm(props: CardFormProps) {
  const [live, setLive] = useState<Live>({});
  const form = useRef<HTMLFormElement>(null);
  const payment = useRef<PaymentFields>(null);

  useEffect(() => {
    const failed = () => setLive({ problem: props.notLoaded });
    openPayment(props, { ready: () => setLive((before) => ({ ...before, ready: true })), failed }).then((opened) => {
      payment.current = opened;
    }, failed);
    // Restored from the back-forward cache: its content is outdated.
    addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  }, [props]);

  async function save(event: FormEvent) {
    event.preventDefault();
    if (live.busy) return;
    setLive({ ready: true, busy: true });
    const answer = await payment.current?.setUp(props.setupUrl).catch(() => ({ message: props.failed }));
    // Foyer's server redirects to another page.
    if (!answer) return location.assign(props.action);
    const field = form.current?.elements.namedItem('setupIntent');
    if ('setupIntent' in answer && field instanceof HTMLInputElement) {
      field.value = answer.setupIntent;
      return form.current?.submit();
    }
    // Faults of the fields stand beside them.
    const faulty = 'code' in answer && answer.code === 'incomplete';
    setLive({ ready: true, problem: faulty ? undefined : ('message' in answer && answer.message) || props.failed });
  }

  return <PaymentFormView {...props} {...live} form={form} onSubmit={save} />;
}
