import { Skeleton } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import type { ChangeKind } from '../frame/mark-changes.ts';
import type { MailColors, MailLink } from '../frame/show-mail.ts';

/** What a shown mail leads to, and how many images of it weren't loaded. */
export interface MailFindings {
  readonly links: readonly MailLink[];
  readonly blocked: number;
}

interface MailFrameProps {
  html: string;
  title: string;
  colors?: MailColors;
  /** Width in pixels; default: full width. */
  width?: number;
  /** Lays the mail out with at least this width in pixels, scaled to the available space. */
  fit?: number;
  minHeight?: number;
  /** Highlights what the other version doesn't have. */
  marks?: { against: string; kind: ChangeKind };
  /** Names of fields without a value, highlighted in place of `{{Name}}`. */
  unfilled?: readonly string[];
  /** Called with the text that was clicked, also in links, which then aren't followed. */
  onTextClick?: ((text: string) => void) | undefined;
  /** Called with the scale of the shown mail: at most 1. */
  onScale?: ((scale: number) => void) | undefined;
  /** Called with what is new about the mail. */
  onFound?: ((findings: Partial<MailFindings>) => void) | undefined;
}

/** In pixels. */
const maxScrollbar = 20;

/**
 * Shows the HTML of a mail in a sandboxed frame without scripts and external resources, so viewing it never counts as an open.
 * Its links open in new tabs, unless a click has another meaning.
 */
export function MailFrame(props: MailFrameProps) {
  const {
    html,
    title,
    colors = 'light',
    width,
    fit,
    minHeight = 160,
    unfilled,
    onTextClick,
    onScale,
    onFound,
  } = props;
  const { against, kind } = props.marks ?? {};
  const picksText = onTextClick !== undefined;
  const frame = useRef<HTMLIFrameElement>(null);
  const { ref, width: measured } = useElementSize();
  const [space, setSpace] = useState(measured);
  // A mail scaled to the space beside a scrollbar can fit without it, and the other way around: it would change its size forever.
  if (measured < space || measured > space + maxScrollbar) setSpace(measured);
  const [ready, setReady] = useState(false);
  /** Of the mail; undefined until it is shown. */
  const [height, setHeight] = useState<number>();

  useEffect(() => {
    function listen(event: MessageEvent) {
      if (event.source !== frame.current?.contentWindow) return;
      if (event.data.ready === true) setReady(true);
      if (typeof event.data.height === 'number') setHeight(Math.min(event.data.height, 4_000));
      if (typeof event.data.blocked === 'number') onFound?.(event.data);
      if (typeof event.data.clicked === 'string') onTextClick?.(event.data.clicked);
    }
    addEventListener('message', listen);
    return () => removeEventListener('message', listen);
  }, [onTextClick, onFound]);

  useEffect(() => {
    // The frame's origin is opaque, so it can't be given as target; the mail isn't secret from its reader.
    const marks = against === undefined || kind === undefined ? undefined : { against, kind };
    const mail = { html, colors, marks, unfilled, picksText };
    if (ready) frame.current?.contentWindow?.postMessage(mail, '*');
  }, [ready, html, colors, against, kind, unfilled, picksText]);

  const scale = fit === undefined || space === 0 ? 1 : Math.min(1, space / fit);
  useEffect(() => onScale?.(scale), [onScale, scale]);
  const shownHeight = Math.max(height ?? 0, minHeight / scale);
  return (
    <div ref={ref} className="mail-fit" style={{ height: shownHeight * scale, maxWidth: width }}>
      <iframe
        ref={frame}
        src="/console/frame"
        sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"
        title={title}
        className="mail-frame"
        style={{ height: shownHeight, ...(scale < 1 && { width: space / scale, scale }) }}
      />
      {height === undefined && <Skeleton className="mail-loading" />}
    </div>
  );
}
