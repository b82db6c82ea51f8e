import { useEffect, useState } from 'react';
import { type RevealProps, RevealView } from '../../views/parts/reveal.tsx';

/** Shows what was typed into a password field. What is sent and remembered is always a password field. */
export default function Reveal(props: RevealProps) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const input = document.getElementById(props.controls);
    if (!(input instanceof HTMLInputElement)) return;
    input.type = shown ? 'text' : 'password';
    const hide = () => {
      input.type = 'password';
      setShown(false);
    };
    input.form?.addEventListener('submit', hide);
    return () => input.form?.removeEventListener('submit', hide);
  }, [props.controls, shown]);
  return <RevealView {...props} isVisible={shown} onClick={() => setShown(!shown)} />;
}
