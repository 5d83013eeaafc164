/** A language model behind OpenAI's chat API, `POST <base>/chat/completions`. Sends only fields that every compatible server knows. */

import { z } from 'zod';
import { neutralText } from '../compute/text/neutral-text.ts';
import { postForEvents, postJson } from './http-json.ts';
import type { EndpointOptions } from './provider-settings.ts';
import { type CallOptions, ProviderError } from './resilient-call.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export type ChatClient = ReturnType<typeof openChatClient>;

const maxAnswerBytes = 1024 * 1024;
/** Thoughts that some models write before their answer. */
export const thoughts = /^\s*<think(?:ing)?>.*?<\/think(?:ing)?>/is;

const answerShape = z.object({
  choices: z.tuple([z.object({ message: z.object({ content: z.string().trim().min(1) }) })], z.unknown()),
});

/** A piece of a stream, or the whole answer of a server that does not stream. */
const text = z.object({ content: z.string().nullish() }).optional();
const pieceShape = z.object({ choices: z.array(z.object({ delta: text, message: text })) });

export function openChatClient({ endpoint, model, call, wall }: EndpointOptions) {
  const requestOf = (messages: readonly ChatMessage[], signal: AbortSignal, stream?: true) => ({
    path: '/chat/completions',
    body: {
      model: model ?? undefined,
      messages: messages.map((each) => ({ ...each, content: neutralText(each.content.toWellFormed()) })),
      stream,
    },
    maxBytes: maxAnswerBytes,
    signal,
    wall,
  });
  return {
    /** The place to which texts are sent. `model` null: the server's default. */
    place: { host: new URL(endpoint.baseUrl).host, model },
    /**
     * The model's answer, as it comes: `take` gets each piece, and ends the call by returning false. No retry after the first piece.
     * Errors: those of resilientCall; ProviderError `bad_answer` for an error in the stream.
     */
    async stream(messages: readonly ChatMessage[], take: (piece: string) => boolean, options?: CallOptions) {
      let hasBegun = false;
      const attempt = async (signal: AbortSignal) => {
        let isReadable = true;
        await postForEvents(endpoint, requestOf(messages, signal, true), (data) => {
          const piece = pieceShape.safeParse(data).data;
          isReadable = piece !== undefined;
          const { delta, message } = piece?.choices[0] ?? {};
          const text = delta?.content ?? message?.content ?? '';
          hasBegun ||= text !== '';
          return isReadable && (text === '' || take(text));
        });
        if (!isReadable) throw new ProviderError(endpoint.provider, 'bad_answer', 'an error in the answer');
      };
      await call(attempt, { ...options, mayRetry: () => !hasBegun });
    },
    /**
     * The model's answer, trimmed, not empty. Invisible characters are not sent.
     * Errors: those of resilientCall; ProviderError `bad_answer` without a text.
     */
    complete(messages: readonly ChatMessage[], options?: CallOptions): Promise<string> {
      return call(async (signal) => {
        const request = requestOf(messages, signal);
        const { data } = answerShape.safeParse(await postJson(endpoint, request));
        if (data === undefined) throw new ProviderError(endpoint.provider, 'bad_answer', 'no text in the answer');
        return data.choices[0].message.content;
      }, options);
    },
  };
}
