/** Speaks to the REST door of a server as programs do. */
/** Fields that tests read one by one; one that is not there makes the test that reads it fail. */
export interface ReplyBody {
  readonly id: string;
  readonly etag: string;
  readonly version: number;
  readonly status: number;
  readonly error: string;
  readonly message: string;
  readonly title: string;
  readonly role: string;
  readonly description: unknown;
  readonly properties: unknown;
  readonly notes: unknown;
  readonly children: unknown;
  readonly dependencies: unknown;
  readonly isClaimed: boolean;
  readonly hasMore: boolean;
  readonly totalItems: number;
  readonly items: readonly ReplyBody[];
  readonly fingerprint: string;
}

export interface RestReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; empty where there is none. */
  readonly body: ReplyBody;
}

export interface RestCall {
  /** Sent as JSON, unless it is text. */
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type RestClient = (call: string, options?: RestCall) => Promise<RestReply>;

/** `call` is a method and a path below `/api/v1`: `GET /items`. */
export function restClient({ url }: { readonly url: string }): RestClient {
  return async (call, { body, type, headers = {} } = {}) => {
    const [method = "", path = ""] = call.split(" ");
    const sent = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(sent === undefined ? {} : { "content-type": type ?? "application/json" }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await answer.text();
    const isJson = /json/.test(answer.headers.get("content-type") ?? "") && text !== "";
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body: (isJson ? JSON.parse(text) : {}) as ReplyBody,
    };
  };
}
