"""Alt+F4 as window managers have it: close_key.py WINDOW

Grabs the keyboard from F4 with Alt until F4 is released, and asks the window to close. Prints a line
once it is there; ends after one use.
"""
import ctypes
import sys

KEY_PRESS, KEY_RELEASE, CLIENT_MESSAGE = 2, 3, 33
ALT, F4, ASYNC = 8, 0xFFC1, 1


class ClientMessage(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong),
        ("message_type", ctypes.c_ulong),
        ("format", ctypes.c_int),
        ("data", ctypes.c_long * 5),
    ]


class Key(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("windows", ctypes.c_ulong * 3),
        ("time", ctypes.c_ulong),
        ("places", ctypes.c_int * 4),
        ("state", ctypes.c_uint),
        ("code", ctypes.c_uint),
    ]


class Event(ctypes.Union):
    _fields_ = [
        ("type", ctypes.c_int),
        ("key", Key),
        ("client", ClientMessage),
        ("pad", ctypes.c_long * 24),
    ]


x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype = ctypes.c_void_p
x.XDefaultRootWindow.restype = x.XInternAtom.restype = ctypes.c_ulong
display = ctypes.c_void_p(x.XOpenDisplay(None))
window = ctypes.c_ulong(int(sys.argv[1]))
root = ctypes.c_ulong(x.XDefaultRootWindow(display))
key = x.XKeysymToKeycode(display, ctypes.c_ulong(F4))
x.XGrabKey(display, key, ALT, root, False, ASYNC, ASYNC)
x.XSync(display, False)
print("ready", flush=True)
event = Event()
while True:
    x.XNextEvent(display, ctypes.byref(event))
    if event.type == KEY_PRESS:
        ask = Event()
        ask.client.type = CLIENT_MESSAGE
        ask.client.window = window
        ask.client.message_type = x.XInternAtom(display, b"WM_PROTOCOLS", False)
        ask.client.format = 32
        ask.client.data[0] = x.XInternAtom(display, b"WM_DELETE_WINDOW", False)
        x.XSendEvent(display, window, False, ctypes.c_long(0), ctypes.byref(ask))
        x.XFlush(display)
    elif event.type == KEY_RELEASE and event.key.code == key:
        break
x.XCloseDisplay(display)
