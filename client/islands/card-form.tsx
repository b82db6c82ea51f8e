import type { Stripe } from '@stripe/stripe-js';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import {
  type CardElementName,
  type CardFieldName,
  type CardFormLive,
  type CardFormProps,
  CardFormView,
  cardElements,
} from '../../views/checkout/card-form.tsx';
import { type CardElement, type Failure, loadStripe, mountCard } from '../stripe.ts';

type Errors = NonNullable<CardFormLive['errors']>;

const order: CardFieldName[] = ['name', ...cardElements, 'zip'];

const textOf = ({ incomplete, failed }: CardFormProps, { code, message }: Failure): string =>
  incomplete[code as keyof typeof incomplete] ?? message ?? failed;

const changed = (part: CardFormLive) => (before: CardFormLive) => ({
  ...before,
  ...part,
  errors: { ...before.errors, ...part.errors },
});

/** Mounts Stripe's card elements, has Stripe check and keep the card, and posts nothing but the setup intent's id. */
export default function CardForm(props: CardFormProps) {
  const [live, setLive] = useState<CardFormLive>({});
  const form = useRef<HTMLFormElement>(null);
  const stripe = useRef<Stripe>(null);
  const elements = useRef({} as Record<CardElementName, CardElement>);
  /** What is wrong with each of Stripe's fields: one that was never touched raises no event. */
  const wrong = useRef<Errors>({});
  const busy = useRef(false);

  useEffect(() => {
    const failed = () => setLive(changed({ problem: props.notLoaded }));
    for (const name of cardElements) wrong.current[name] = props.incomplete[`incomplete_${name}`];
    const begin = async () => {
      stripe.current = await loadStripe(props);
      elements.current = mountCard(stripe.current, cardElements, {
        changed(name, { complete, error }) {
          const text = error && textOf(props, error);
          wrong.current[name] = complete ? undefined : (text ?? props.incomplete[`incomplete_${name}`]);
          setLive(changed({ errors: { [name]: text } }));
        },
        focused: (name) => setLive(changed({ focused: name })),
        ready: () => setLive(changed({ ready: true })),
        failed,
      });
    };
    begin().catch(failed);
    // Back from the next page, as the browser has kept this one: what it says is old.
    addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  }, [props]);

  const input = (name: string) => form.current?.elements.namedItem(name) as HTMLInputElement;
  const refuse = (errors: Errors, first: CardFieldName) => {
    setLive(changed({ errors }));
    (first === 'name' || first === 'zip' ? input(first) : elements.current[first]).focus();
  };

  /** @returns what went wrong; undefined: the next page is on its way */
  async function setUp(name: string, zip: string): Promise<Failure | undefined> {
    const answer = await fetch(props.setupUrl, { method: 'POST', headers: { Accept: 'application/json' } });
    // Signed out meanwhile, or done in another tab: the page itself knows where to go.
    if (answer.redirected) return location.assign(props.action) as undefined;
    const { clientSecret, message } = await answer.json();
    if (!clientSecret || !stripe.current) return { message };
    const { setupIntent, error } = await stripe.current.confirmCardSetup(clientSecret, {
      payment_method: { card: elements.current.number, billing_details: { name, address: { postal_code: zip } } },
    });
    if (!setupIntent) return error;
    input('setupIntent').value = setupIntent.id;
    // What is disabled is not sent.
    input('name').disabled = input('zip').disabled = true;
    form.current?.submit();
  }

  async function save(event: FormEvent) {
    event.preventDefault();
    if (busy.current) return;
    const [name, zip] = [input('name').value.trim(), input('zip').value.trim()];
    const emptyOr = (typed: string) => (typed ? undefined : props.empty);
    const errors: Errors = { ...wrong.current, name: emptyOr(name), zip: emptyOr(zip) };
    const first = order.find((one) => errors[one]);
    if (first) return refuse(errors, first);
    busy.current = true;
    setLive(changed({ busy: true, problem: undefined, errors }));
    const failure = await setUp(name, zip).catch((): Failure => ({}));
    if (!failure) return;
    busy.current = false;
    const text = textOf(props, failure);
    const whose = order.find((one) => one !== 'name' && failure.code?.includes(one));
    setLive(changed({ busy: false, problem: whose ? undefined : text }));
    if (whose) refuse({ [whose]: text }, whose);
  }

  return (
    <CardFormView
      {...props}
      {...live}
      form={form}
      onSubmit={save}
      onTyped={(name) => setLive(changed({ errors: { [name]: undefined } }))}
    />
  );
}
