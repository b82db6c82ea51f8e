import { type SyntheticEvent, useEffect, useRef, useState } from 'react';
import { type PassingNoticeProps, PassingNoticeView } from '../../views/parts/passing-notice.tsx';

/** Minimum time for a user who has just looked away. */
const minMs = 1000;

/** A notice that hides after its duration; the time stops while the pointer or focus is on it. */
export default function PassingNotice(props: PassingNoticeProps) {
  const [gone, setGone] = useState(false);
  const [held, setHeld] = useState(false);
  const leftMs = useRef(props.durationMs);
  useEffect(() => {
    if (held) return;
    const beganMs = performance.now();
    const timer = setTimeout(() => setGone(true), leftMs.current);
    return () => {
      clearTimeout(timer);
      leftMs.current = Math.max(minMs, leftMs.current - (performance.now() - beganMs));
    };
  }, [held]);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => setHeld(frame.current?.matches(':hover, :focus-within') ?? false), []);
  const hold = () => setHeld(true);
  const letGo = ({ type, currentTarget }: SyntheticEvent<HTMLElement>) =>
    setHeld(currentTarget.matches(type === 'blur' ? ':hover' : ':focus-within'));
  const on = { onPointerEnter: hold, onFocus: hold, onPointerLeave: letGo, onBlur: letGo };
  return <PassingNoticeView {...props} isHidden={gone} frame={frame} on={on} />;
}
