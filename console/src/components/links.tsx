import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type LinkProps = Omit<ComponentPropsWithRef<'a'>, keyof AnchorProps | keyof ButtonProps>;

function PlainAnchor(props: AnchorProps & LinkProps) {
  // Without a size of its own a link is as large as the words around it.
  return <Anchor inherit={props.size === undefined} {...props} />;
}

function PlainButton(props: ButtonProps & LinkProps) {
  return <Button component="a" {...props} />;
}

/** A link to a page of the console. */
export const PageAnchor = createLink(PlainAnchor);

/** The same, looking like a button. */
export const PageButton = createLink(PlainButton);
