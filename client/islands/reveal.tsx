import { useEffect, useState } from 'react';
import { type RevealProps, RevealView } from '../../views/parts/reveal.tsx';

/** Shows the content of a password field. The sent and remembered field is always a password field. */
export default function Reveal(props: RevealProps) {
  const [isVisible, setIsVisible] = useState(false);
  useEffect(() => {
    const input = document.getElementById(props.controls);
    if (!(input instanceof HTMLInputElement)) return;
    input.type = isVisible ? 'text' : 'password';
    const hide = () => {
      input.type = 'password';
      setIsVisible(false);
    };
    input.form?.addEventListener('submit', hide);
    return () => input.form?.removeEventListener('submit', hide);
  }, [props.controls, isVisible]);
  return <RevealView {...props} isVisible={isVisible} onClick={() => setIsVisible(!isVisible)} />;
}
