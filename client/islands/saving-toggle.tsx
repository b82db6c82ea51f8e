import { useEffect, useRef } from 'react';
import { type ToggleProps, ToggleView } from '../../views/parts/toggle.tsx';

/** A switch that submits its form when it changes, including a change before the hydration. */
export default function SavingToggle(props: ToggleProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current && input.current.checked !== props.checked) input.current.form?.requestSubmit();
  }, [props.checked]);
  return <ToggleView {...props} input={input} onChange={({ target }) => target.form?.requestSubmit()} />;
}
