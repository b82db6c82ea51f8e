import { type FormEvent, useEffect, useRef, useState } from 'react';
import {
  type CardFieldName,
  type CardFormLive,
  type CardFormProps,
  CardFormView,
  cardElements,
  cardFields,
} from '../../views/billing/card-form.tsx';
import { type Card, type CardEvents, type Failure, openCard } from '../stripe.ts';

type Errors = NonNullable<CardFormLive['errors']>;
type Typed = readonly [name: string, zip: string];

/** Stripe's own words are the last: they are not always in the language of the page. */
const errorText = ({ faults, failed }: CardFormProps, { decline_code, code, message }: Failure): string =>
  faults[decline_code as string] ?? faults[code as string] ?? message ?? failed;

const changed = (part: CardFormLive) => (before: CardFormLive) => ({
  ...before,
  ...part,
  errors: { ...before.errors, ...part.errors },
});

/** The faults when the button is pressed; the payment element asks for everything itself, and shows its own. */
function findFaults({ methods, empty }: CardFormProps, wrong: Errors, [name, zip]: Typed): Errors {
  if (methods) return {};
  return { ...wrong, name: name ? undefined : empty, zip: zip ? undefined : empty };
}

/**
 * Mounts Stripe's card elements or its payment element, lets Stripe check and store the card or other payment method, and
 * posts only the setup intent's id.
 */
export default function CardForm(props: CardFormProps) {
  const [live, setLive] = useState<CardFormLive>({});
  const form = useRef<HTMLFormElement>(null);
  const card = useRef<Card>(null);
  /** The fault of each of Stripe's fields: an untouched one fires no event. */
  const wrong = useRef<Errors>({});
  const busy = useRef(false);

  useEffect(() => {
    const failed = () => setLive(changed({ problem: props.notLoaded }));
    for (const name of cardElements) wrong.current[name] = props.faults[`incomplete_${name}`];
    const on: CardEvents = {
      changed(name, { complete, error }) {
        const text = error && errorText(props, error);
        wrong.current[name] = complete ? undefined : (text ?? props.faults[`incomplete_${name}`]);
        // Another field may have triggered it, the number the code's: its own error still holds.
        setLive((before) =>
          before.focused === name || complete || text ? changed({ errors: { [name]: text } })(before) : before,
        );
      },
      focused: (name) => setLive(changed({ focused: name })),
      ready: () => setLive(changed({ ready: true })),
      failed,
    };
    (form.current?.elements.namedItem(props.focus) as HTMLElement | null)?.focus();
    openCard(props, cardElements, on).then((opened) => {
      card.current = opened;
    }, failed);
    // Restored from the back-forward cache: its content is outdated.
    addEventListener('pageshow', (event) => event.persisted && location.reload());
  }, [props]);

  const input = (name: string) => form.current?.elements.namedItem(name) as HTMLInputElement;
  const refuse = (errors: Errors, first: CardFieldName) => {
    setLive(changed({ errors, summary: true }));
    if (first !== 'name' && first !== 'zip') card.current?.focus(first);
    else input(first).focus();
  };

  function send(setupIntent: string) {
    input('setupIntent').value = setupIntent;
    // Disabled fields are not sent.
    if (!props.methods) input('name').disabled = input('zip').disabled = true;
    form.current?.submit();
  }

  async function save(event: FormEvent) {
    event.preventDefault();
    if (busy.current) return;
    const read = (own: string) => (props.methods ? '' : input(own).value.trim());
    const typed: Typed = [read('name'), read('zip')];
    const errors = findFaults(props, wrong.current, typed);
    const first = cardFields.find((one) => errors[one]);
    if (first) return refuse(errors, first);
    busy.current = true;
    setLive(changed({ busy: true, problem: undefined, errors, summary: false }));
    const answer = await card.current?.setUp(props.setupUrl, ...typed).catch((): Failure => ({}));
    // The page itself redirects.
    if (!answer) return location.assign(props.action);
    if ('setupIntent' in answer) return send(answer.setupIntent);
    busy.current = false;
    const text = errorText(props, answer);
    const owner = !props.methods && cardFields.find((one) => one !== 'name' && answer.code?.includes(one));
    setLive(changed({ busy: false, problem: owner || answer.code === 'incomplete' ? undefined : text }));
    if (owner) refuse({ [owner]: text }, owner);
  }

  return (
    <CardFormView
      {...props}
      {...live}
      form={form}
      onSubmit={save}
      onFrameFocus={(name) => card.current?.focus(name)}
      onTyped={(name) => setLive(changed({ errors: { [name]: undefined } }))}
    />
  );
}
