import { useEffect, useRef, useState } from 'react';
import { NewPasswordView, type NewPasswordViewProps } from '../../views/parts/new-password.tsx';
import { passwordStrength, type Strength, strengthRules } from '../../views/parts/password-strength.ts';

/** Checks a new password at every key, and again when a name or an address of the same form changes. */
export default function NewPassword(props: NewPasswordViewProps) {
  const { fields, known, labels } = props;
  const input = useRef<HTMLInputElement>(null);
  const [met, setMet] = useState<Strength>();
  const [error, setError] = useState(props.error);
  const [isVisible, setIsVisible] = useState(false);
  useEffect(() => {
    const field = input.current;
    const form = field?.form;
    if (!field || !form) return;
    const typedIn = (name: string | undefined) => {
      const control = name === undefined ? null : form.elements.namedItem(name);
      return control instanceof HTMLInputElement ? control.value : undefined;
    };
    const judge = () =>
      passwordStrength(field.value, {
        email: typedIn(fields?.email) ?? known?.email ?? '',
        givenName: typedIn(fields?.givenName) ?? known?.givenName ?? '',
        familyName: typedIn(fields?.familyName) ?? known?.familyName ?? '',
      });
    const look = ({ target }: Pick<Event, 'target'>) => {
      if (field.value !== '') setMet(judge());
      else if (target === field) setMet(undefined);
      if (target === field) setError(undefined);
    };
    // The sign-up also tells the time zone of this browser.
    const zone = form.elements.namedItem('zoneinfo');
    if (zone instanceof HTMLInputElement) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
    // Input from before the hydration.
    if (field.value !== '') look({ target: field });
    const check = (event: SubmitEvent) => {
      // The sign-up and a dialog are not sent while the checklist has an open rule; the field then names it.
      const strength = judge();
      const open = strengthRules.find((rule) => !strength[rule]);
      // Another language sends the form, too.
      const isHeld = !event.submitter?.hasAttribute('formnovalidate') && (fields || form.closest('dialog'));
      if (open && field.value !== '' && isHeld) {
        event.preventDefault();
        setError(labels.rules[open]);
        field.focus();
        return;
      }
      // At once: the sent and remembered field is always a password field.
      field.type = 'password';
      setIsVisible(false);
    };
    form.addEventListener('input', look);
    form.addEventListener('submit', check);
    return () => {
      form.removeEventListener('input', look);
      form.removeEventListener('submit', check);
    };
  }, [fields, known, labels]);
  useEffect(() => {
    const field = input.current;
    if (field) field.type = isVisible ? 'text' : 'password';
  }, [isVisible]);
  return (
    <NewPasswordView
      {...props}
      met={met}
      error={error}
      isVisible={isVisible}
      onReveal={() => setIsVisible(!isVisible)}
      input={input}
    />
  );
}
