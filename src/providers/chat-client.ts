/**
 * A language model behind OpenAI's chat API, `POST <base>/chat/completions`: a few messages in, one text out. Only fields that
 * every compatible server knows are sent.
 */
import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { postJson } from './http-json.ts';
import { ProviderError } from './provider-error.ts';
import type { CallOptions, ProviderCall } from './resilient-call.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface ChatClient {
  /**
   * The model's answer to a conversation, trimmed, not empty.
   * Errors: those of resilientCall; ProviderError `bad_answer` where there is no text.
   */
  complete(messages: readonly ChatMessage[], options?: CallOptions): Promise<string>;
}

export interface ChatClientOptions {
  endpoint: Endpoint;
  /** Null: the server has one. */
  model: string | null;
  /** What each request goes through. */
  call: ProviderCall;
  /** Wall clock, ms. */
  wall: () => number;
}

/** Labels and short summaries are wanted, not books. */
const maxAnswerBytes = 1024 * 1024;

const answerShape = z.object({
  choices: z.tuple([z.object({ message: z.object({ content: z.string().trim().min(1) }) })], z.unknown()),
});

export function openChatClient({ endpoint, model, call, wall }: ChatClientOptions): ChatClient {
  return {
    complete(messages, options) {
      const body = {
        model: model ?? undefined,
        messages: messages.map((each) => ({ ...each, content: each.content.toWellFormed() })),
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
