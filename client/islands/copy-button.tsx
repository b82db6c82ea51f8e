import { useEffect, useState } from 'react';
import { type CopyButtonProps, CopyButtonView } from '../../views/parts/copy-button.tsx';

const doneMs = 2000;

/** Prints the page, or copies an element's text; if the browser forbids it, the text is at least selected. */
export default function CopyButton(props: CopyButtonProps) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), doneMs);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    if (props.source === undefined) return print();
    const source = document.getElementById(props.source);
    if (!source) return;
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      setDone(true);
    } catch {
      getSelection()?.selectAllChildren(source);
    }
  };
  return <CopyButtonView {...props} done={done} onClick={copy} />;
}
