/** A language model behind OpenAI's chat API, `POST <base>/chat/completions`. Sends only fields that every compatible server knows. */
import { z } from 'zod';
import { neutralText } from '../compute/text/neutral-text.ts';
import { postJson } from './http-json.ts';
import { ProviderError } from './provider-error.ts';
import type { Endpoint } from './provider-settings.ts';
import type { CallOptions, ProviderCall } from './resilient-call.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface ChatClient {
  /**
   * The model's answer, trimmed, not empty. Invisible characters are not sent.
   * Errors: those of resilientCall; ProviderError `bad_answer` without a text.
   */
  complete(messages: readonly ChatMessage[], options?: CallOptions): Promise<string>;
}

export interface ChatClientOptions {
  endpoint: Endpoint;
  /** Null: the server's default. */
  model: string | null;
  call: ProviderCall;
  wall: () => number;
}

const maxAnswerBytes = 1024 * 1024;

const answerShape = z.object({
  choices: z.tuple([z.object({ message: z.object({ content: z.string().trim().min(1) }) })], z.unknown()),
});

export function openChatClient({ endpoint, model, call, wall }: ChatClientOptions): ChatClient {
  return {
    complete(messages, options) {
      const body = {
        model: model ?? undefined,
        messages: messages.map((each) => ({ ...each, content: neutralText(each.content.toWellFormed()) })),
      };
      return call(async (signal) => {
        const request = { path: '/chat/completions', body, maxBytes: maxAnswerBytes, signal, wall };
        const { data } = answerShape.safeParse(await postJson(endpoint, request));
        if (data === undefined) throw new ProviderError(endpoint.provider, 'bad_answer', 'no text in the answer');
        return data.choices[0].message.content;
      }, options);
    },
  };
}
