"""What stands between the gateway and its server and answers in its stead, now and then."""

import http.client
import http.server
import threading

LOSE_ANSWER = "lose the answer"


class Front:
    """`rule(method, path, body)` gives (status, fields, body) to be answered, LOSE_ANSWER, or None: the server answers."""

    def __init__(self, server_port):
        self.rule = lambda method, path, body: None
        self.requests = 0
        front = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                front.requests += 1
                deed = front.rule(self.command, self.path, body)
                if deed is None or deed == LOSE_ANSWER:
                    answer = front.ask(server_port, self.command, self.path, body, self.headers)
                    if deed == LOSE_ANSWER:
                        self.close_connection = True
                        return
                    deed = answer
                status, fields, content = deed
                self.send_response_only(status)
                for name, value in fields.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_PUT = do_POST = do_DELETE = serve

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @staticmethod
    def ask(port, method, path, body, fields):
        """The server's own answer; 503 where there is none."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            kept = {name: value for name, value in fields.items() if name.lower() not in ("host", "connection", "content-length", "expect")}
            connection.request(method, path, body or None, kept)
            answer = connection.getresponse()
            content = answer.read()
            return answer.status, {
                name: value for name, value in answer.getheaders() if name.lower() not in ("content-length", "connection", "date")}, content
        except OSError:
            return 503, {}, b""
        finally:
            connection.close()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
