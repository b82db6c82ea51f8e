import { useEffect, useState } from 'react';
import { type ResendProps, ResendView } from '../../views/parts/resend.tsx';

/** Counts the seconds down until another code can be requested. */
export default function Resend(props: ResendProps) {
  const [left, setLeft] = useState(props.waitSeconds);
  const [live, setLive] = useState(false);
  useEffect(() => {
    setLive(true);
    // By the clock: a background tab gets its timers late.
    const endMs = performance.now() + props.waitSeconds * 1000;
    const timer = setInterval(() => {
      const seconds = Math.max(0, Math.ceil((endMs - performance.now()) / 1000));
      setLeft(seconds);
      if (seconds === 0) clearInterval(timer);
    }, 1000);
    return () => clearInterval(timer);
  }, [props.waitSeconds]);
  return <ResendView {...props} waitSeconds={left} live={live} />;
}
