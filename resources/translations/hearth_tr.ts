<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="tr" sourcelanguage="en">
<context>
    <name>ChatFiles</name>
    <message>
        <source>You</source>
        <translation>Siz</translation>
    </message>
    <message>
        <source>Assistant</source>
        <translation>Asistan</translation>
    </message>
    <message>
        <source>%1 could not be written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose another folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>[image]</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>[attachment]</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no chats could be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a file that Hearth, ChatGPT (conversations.json) or llama.cpp&apos;s web interface has written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the file is not JSON: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a newer version of Hearth wrote the file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is no chat in the file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be opened: %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Database</name>
    <message>
        <source>the chats cannot be kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be opened: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>See that the folder can be written to, then start Hearth again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder of the chats is on a drive that cannot keep a log, so a crash may cost the last seconds.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is damaged and cannot be renamed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move that file away, then start Hearth again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file of your chats is damaged. It was put aside as %1, and a new one was begun.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was written by a newer version of Hearth</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use that version; nothing was changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>See that the drive is not full and can be written to</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Library</name>
    <message>
        <source>Of %1 parts these are missing: %2. Put all of them into one folder.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MessageItem</name>
    <message>
        <source>Copy</source>
        <translation>Kopyala</translation>
    </message>
    <message>
        <source>Save …</source>
        <translation>Kaydet …</translation>
    </message>
    <message>
        <source>Do not wrap</source>
        <translation>Kaydırma</translation>
    </message>
    <message>
        <source>Thinking … %1 s</source>
        <translation>Düşünüyor … %1 sn</translation>
    </message>
    <message>
        <source>Thought for %1 s</source>
        <translation>%1 sn düşündü</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 token/sn</translation>
    </message>
    <message>
        <source>1 token</source>
        <translation>1 token</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 token</translation>
    </message>
    <message>
        <source>rated good</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rated bad</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 sn</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Düzenle</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <translation>Yeniden üret</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Sürdür</translation>
    </message>
    <message>
        <source>code</source>
        <translation>kod</translation>
    </message>
    <message>
        <source>Wrap</source>
        <translation>Kaydır</translation>
    </message>
    <message>
        <source>Reading …</source>
        <translation>Okuyor …</translation>
    </message>
    <message>
        <source>The model no longer sees what stands above</source>
        <translation>Model bunun üstündekileri artık görmüyor</translation>
    </message>
</context>
<context>
    <name>Prediction</name>
    <message>
        <source>weights</source>
        <translation>ağırlıklar</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV önbelleği</translation>
    </message>
    <message>
        <source>scratch</source>
        <translation>çalışma alanı</translation>
    </message>
    <message>
        <source>driver</source>
        <translation>sürücü</translation>
    </message>
    <message>
        <source>copies by neuron</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RuntimeEngine</name>
    <message>
        <source>1 thread</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 threads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nobody can answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no model is loaded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a model file</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TextFile</name>
    <message>
        <source>the file %1 cannot be attached</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach a text file of at most 4 MiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the file cannot be opened</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the file is too large</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>what is in the file is not text</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::Banner</name>
    <message>
        <source>Close</source>
        <translation>Kapat</translation>
    </message>
    <message>
        <source>Notice</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::Chat</name>
    <message>
        <source>The context is full, so the reply ends here. A new chat begins with an empty one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The reply reached its limit of tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This did not work: %1: %2.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::ChatListModel</name>
    <message>
        <source>Today</source>
        <translation>Bugün</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Dün</translation>
    </message>
    <message>
        <source>Last 7 days</source>
        <translation>Son 7 gün</translation>
    </message>
    <message>
        <source>Last 30 days</source>
        <translation>Son 30 gün</translation>
    </message>
    <message>
        <source>Older</source>
        <translation>Daha eski</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat without a title</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::ChatListPane</name>
    <message>
        <source>New chat</source>
        <translation>Yeni sohbet</translation>
    </message>
    <message>
        <source>Find in all chats</source>
        <translation>Tüm sohbetlerde bul</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>Sohbetler</translation>
    </message>
    <message>
        <source>New folder</source>
        <translation>Yeni klasör</translation>
    </message>
    <message>
        <source>Name of the folder:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Rename</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Move to</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;No folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Delete folder, keep its chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New &amp;folder …</source>
        <translation>Yeni k&amp;lasör …</translation>
    </message>
</context>
<context>
    <name>hearth::ui::ChatPane</name>
    <message>
        <source>You are changing a message. Sending it begins a branch; what followed stays, one step aside. Esc leaves all as it was.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach a text file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pasted text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping …</source>
        <translation>Durduruluyor …</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Durdur</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Gönder</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1  ✕</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take it out again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take out the attachment %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 token</source>
        <translation>1 token</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 token</translation>
    </message>
    <message>
        <source>The message and what followed it are deleted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Geri al</translation>
    </message>
</context>
<context>
    <name>hearth::ui::ChatSettingsDialog</name>
    <message>
        <source>as the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For &amp;new chats with %1 too</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings of this chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For example: You are a patient teacher. Answer in short sentences.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;System prompt: what the model is told before the chat begins</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Save as …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keeps the system prompt and these numbers under a name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The template of this model has no switch for thinking.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top-&amp;p</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top-&amp;k</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Min-p</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Repeat penalty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Most tokens of a &amp;reply</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>T&amp;hinking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Precise</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Creative</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save a preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its name; one that is there already is replaced:</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::ChatView</name>
    <message>
        <source>Conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>↓ Newer text below</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, message %2 of %3: %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Message copied</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Code copied</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopyala</translation>
    </message>
    <message>
        <source>Copy &amp;message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Good reply</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Bad reply</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Düzenle</translation>
    </message>
    <message>
        <source>&amp;Regenerate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Delete from here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select &amp;all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopyalandı</translation>
    </message>
</context>
<context>
    <name>hearth::ui::ConversationModel</name>
    <message>
        <source>You</source>
        <translation>Siz</translation>
    </message>
</context>
<context>
    <name>hearth::ui::DeviceRow</name>
    <message>
        <source>Not used: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>İşlemci</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use %1 earlier</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use %1 later</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n threads</source>
        <translation>
            <numerusform>%n iş parçacığı</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 · %2, %3 free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>main memory</source>
        <translation>ana bellek</translation>
    </message>
    <message>
        <source>Budget of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Budget of %1 in GiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> GiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>auto</source>
        <translation>oto</translation>
    </message>
    <message>
        <source>Budget of %1: what is free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is free when a model is loaded.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A plan only: this version of Hearth does not compute on it yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The plan leaves it empty.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Predicted %1, counted %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 are needed: what does not fit is read from disk again and again.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::HardwarePanel</name>
    <message>
        <source>Speed</source>
        <translation>Hız</translation>
    </message>
    <message>
        <source>&amp;Reload with these choices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Aygıtlar</translation>
    </message>
    <message>
        <source>What these choices are for</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As for &amp;all models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forgets what was chosen for this model alone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the model&apos;s, as far as memory goes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as many as there are fast cores</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Conte&amp;xt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Threads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For all models</source>
        <translation>Tüm modeller için</translation>
    </message>
    <message>
        <source>Only for %1</source>
        <translation>Yalnızca %1 için</translation>
    </message>
    <message>
        <source>Where the model would live</source>
        <translation>Modelin yaşayacağı yer</translation>
    </message>
    <message>
        <source>Where the model lives</source>
        <translation>Modelin yaşadığı yer</translation>
    </message>
    <message>
        <source>Load a model to see where it would live and how fast it would be.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A context of %1 tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Would write about %1 tokens/s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Would read about %1 tokens/s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One more GiB of graphics memory would bring %1 tokens/s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The limit is %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is a plan. Today Hearth computes on the processor alone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, where it would write about %1 tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::InputBox</name>
    <message>
        <source>Your message</source>
        <translation>İletiniz</translation>
    </message>
    <message>
        <source>Write a message …</source>
        <translation>Bir ileti yazın …</translation>
    </message>
</context>
<context>
    <name>hearth::ui::Library</name>
    <message>
        <source>It is no longer there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its drive is not plugged in.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 keeps these files; remove the model there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 could not be put into the trash; nothing was deleted. Delete it in the file manager.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The list of models cannot be kept: %1 cannot be written: %2.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::LibraryModel</name>
    <message>
        <source>reading …</source>
        <translation>okunuyor …</translation>
    </message>
    <message>
        <source>offline</source>
        <translation>çevrimdışı</translation>
    </message>
    <message>
        <source>unusable</source>
        <translation>kullanılamaz</translation>
    </message>
    <message>
        <source>sparse</source>
        <translation>seyrek</translation>
    </message>
    <message>
        <source>experts</source>
        <translation>uzmanlar</translation>
    </message>
    <message>
        <source>Its folder %1 is not there now.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Full GPU</source>
        <translation>Tümü GPU</translation>
    </message>
    <message>
        <source>Hybrid %1 %</source>
        <translation>Karma %1 %</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Too big</source>
        <translation>Çok büyük</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>yaklaşık %1</translation>
    </message>
    <message>
        <source>%1 B</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 M</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 k</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Ad</translation>
    </message>
    <message>
        <source>Architecture</source>
        <translation>Mimari</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parametre</translation>
    </message>
    <message>
        <source>Quant</source>
        <translation>Nicemleme</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Boyut</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Bağlam</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>Sığma</translation>
    </message>
    <message>
        <source>Tokens/s</source>
        <translation>Token/sn</translation>
    </message>
</context>
<context>
    <name>hearth::ui::MainWindow</name>
    <message>
        <source>Hardware</source>
        <translation>Donanım</translation>
    </message>
    <message>
        <source>Hearth</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Model</translation>
    </message>
    <message>
        <source>Device in use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Hız</translation>
    </message>
    <message>
        <source>Context in use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose another file …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading …</source>
        <translation>Yükleniyor …</translation>
    </message>
    <message>
        <source>Write a message below and press Enter. Everything is computed on this computer; nothing leaves it.</source>
        <translation>Aşağıya bir ileti yazıp Enter’a basın. Her şey bu bilgisayarda hesaplanır; hiçbir şey dışarı çıkmaz.</translation>
    </message>
    <message>
        <source>No model is loaded</source>
        <translation>Yüklü model yok</translation>
    </message>
    <message>
        <source>Choose one of the models on this computer, or drop a model file (.gguf) on this window.</source>
        <translation>Bu bilgisayardaki modellerden birini seçin ya da bir model dosyasını (.gguf) bu pencereye bırakın.</translation>
    </message>
    <message>
        <source>Choose a model …</source>
        <translation>Model seç …</translation>
    </message>
    <message>
        <source>Loading %1 …</source>
        <translation>%1 yükleniyor …</translation>
    </message>
    <message>
        <source>No model</source>
        <translation>Model yok</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 – Hearth</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading %1/%2 tokens</source>
        <translation>%1/%2 token okunuyor</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 token/sn</translation>
    </message>
    <message>
        <source>context %1/%2</source>
        <translation>bağlam %1/%2</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Dosya</translation>
    </message>
    <message>
        <source>&amp;New chat</source>
        <translation>&amp;Yeni sohbet</translation>
    </message>
    <message>
        <source>&amp;Open model file …</source>
        <translation>Model dosyası &amp;aç …</translation>
    </message>
    <message>
        <source>&amp;Save chat as …</source>
        <translation>Sohbeti &amp;kaydet …</translation>
    </message>
    <message>
        <source>Save &amp;all chats …</source>
        <translation>&amp;Tüm sohbetleri kaydet …</translation>
    </message>
    <message>
        <source>&amp;Bring in chats …</source>
        <translation>Sohbetleri &amp;içe aktar …</translation>
    </message>
    <message>
        <source>New &amp;folder …</source>
        <translation>Yeni k&amp;lasör …</translation>
    </message>
    <message>
        <source>&amp;Rename chat</source>
        <translation>Sohbeti yeniden &amp;adlandır</translation>
    </message>
    <message>
        <source>&amp;Delete chat</source>
        <translation>Sohbeti &amp;sil</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Çık</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Düzenle</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopyala</translation>
    </message>
    <message>
        <source>Copy last &amp;answer</source>
        <translation>Son &amp;yanıtı kopyala</translation>
    </message>
    <message>
        <source>Copy last co&amp;de</source>
        <translation>Son ko&amp;du kopyala</translation>
    </message>
    <message>
        <source>There is no code in this chat.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Code copied</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Select all messages</source>
        <translation>Tüm iletileri &amp;seç</translation>
    </message>
    <message>
        <source>&amp;Find in all chats</source>
        <translation>Tüm sohbetlerde &amp;bul</translation>
    </message>
    <message>
        <source>S&amp;ettings …</source>
        <translation>A&amp;yarlar …</translation>
    </message>
    <message>
        <source>&amp;Chat</source>
        <translation>&amp;Sohbet</translation>
    </message>
    <message>
        <source>&amp;Regenerate reply</source>
        <translation>Yanıtı &amp;yeniden üret</translation>
    </message>
    <message>
        <source>&amp;Edit last message</source>
        <translation>Son iletiyi &amp;düzenle</translation>
    </message>
    <message>
        <source>&amp;Stop</source>
        <translation>&amp;Durdur</translation>
    </message>
    <message>
        <source>&amp;Continue reply</source>
        <translation>Yanıtı &amp;sürdür</translation>
    </message>
    <message>
        <source>Pre&amp;vious branch</source>
        <translation>Ö&amp;nceki dal</translation>
    </message>
    <message>
        <source>&amp;Next branch</source>
        <translation>S&amp;onraki dal</translation>
    </message>
    <message>
        <source>System &amp;prompt and settings …</source>
        <translation>Sistem &amp;istemi ve ayarlar …</translation>
    </message>
    <message>
        <source>A&amp;ttach a text file …</source>
        <translation>&amp;Metin dosyası ekle …</translation>
    </message>
    <message>
        <source>Show or hide &amp;thinking</source>
        <translation>&amp;Düşünmeyi göster ya da gizle</translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <translation>&amp;Model</translation>
    </message>
    <message>
        <source>&amp;Models …</source>
        <translation>&amp;Modeller …</translation>
    </message>
    <message>
        <source>Load the &amp;starter model</source>
        <translation>&amp;Başlangıç modelini yükle</translation>
    </message>
    <message>
        <source>&amp;Unload</source>
        <translation>&amp;Bellekten çıkar</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Görünüm</translation>
    </message>
    <message>
        <source>&amp;Larger text</source>
        <translation>Daha &amp;büyük yazı</translation>
    </message>
    <message>
        <source>&amp;Smaller text</source>
        <translation>Daha &amp;küçük yazı</translation>
    </message>
    <message>
        <source>&amp;Normal text</source>
        <translation>&amp;Olağan yazı</translation>
    </message>
    <message>
        <source>&amp;Hardware</source>
        <translation>&amp;Donanım</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>&amp;Tema</translation>
    </message>
    <message>
        <source>Next &amp;pane</source>
        <translation>Sonraki &amp;bölme</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Yardım</translation>
    </message>
    <message>
        <source>&amp;Keyboard shortcuts</source>
        <translation>&amp;Klavye kısayolları</translation>
    </message>
    <message>
        <source>&amp;About Hearth</source>
        <translation>Hearth &amp;hakkında</translation>
    </message>
    <message>
        <source>As the &amp;system</source>
        <translation>&amp;Sistem gibi</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>&amp;Açık</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>&amp;Koyu</translation>
    </message>
    <message>
        <source>Open a model file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model files (*.gguf);;All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no thinking in this chat.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send the message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New line in the message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Klavye kısayolları</translation>
    </message>
    <message>
        <source>About Hearth</source>
        <translation>Hearth hakkında</translation>
    </message>
    <message>
        <source>&lt;h3&gt;Hearth %1&lt;/h3&gt;&lt;p&gt;Chat with language models that are bigger than your graphics card.&lt;/p&gt;&lt;p&gt;Everything is computed on this computer. Nothing is sent anywhere.&lt;/p&gt;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Link</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open this address? The model wrote it; nobody has checked it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hearth does not open addresses of this kind.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Copy address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“%1” is deleted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Geri al</translation>
    </message>
    <message>
        <source>Saved to %1</source>
        <translation>%1 konumuna kaydedildi</translation>
    </message>
    <message>
        <source>Save the chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Web page (*.html)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>PDF (*.pdf)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With all branches, for Hearth (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save all chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>chats.json</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chats (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading %1 …</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n chats are here now</source>
        <translation>
            <numerusform>%n sohbet artık burada</numerusform>
        </translation>
    </message>
    <message>
        <source>Bring in chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chats (*.json);;All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the code</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>code</source>
        <translation>kod</translation>
    </message>
    <message>
        <source>%1 could not be written: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>Sohbetler</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Ayarlar</translation>
    </message>
    <message>
        <source>Attach text files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The reply is ready</source>
        <translation>Yanıt hazır</translation>
    </message>
</context>
<context>
    <name>hearth::ui::MarkdownDocument</name>
    <message>
        <source>[image: %1]</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>[image: %1, %2]</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::MemoryBar</name>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Predicted %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>; at most %1 may be used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>; counted %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::Meter</name>
    <message>
        <source>Prompt that is read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>– tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No reply yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt: %1 tokens read at %2 tokens/s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 token/sn</translation>
    </message>
    <message>
        <source>average %1 · peak %2 · %3 tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n tokens</source>
        <translation>
            <numerusform>%n token</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 % of the neurons were zero and were skipped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading %1 of %2 tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, %1 tokens/s, about %2 s left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading …</source>
        <translation>okunuyor …</translation>
    </message>
</context>
<context>
    <name>hearth::ui::ModelManager</name>
    <message>
        <source>Models</source>
        <translation>Modeller</translation>
    </message>
    <message>
        <source>Find a model</source>
        <translation>Model bul</translation>
    </message>
    <message>
        <source>&amp;Load</source>
        <translation>&amp;Yükle</translation>
    </message>
    <message>
        <source>No models yet. Add the folder that your model files (.gguf) are in; folders below it are looked through too. Nothing is moved or copied.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Notlar</translation>
    </message>
    <message>
        <source>Notes about this model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Show in folder</source>
        <translation>&amp;Klasörde göster</translation>
    </message>
    <message>
        <source>&amp;Delete …</source>
        <translation>&amp;Sil …</translation>
    </message>
    <message>
        <source>Folders that are looked through</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Add folder …</source>
        <translation>Klasör &amp;ekle …</translation>
    </message>
    <message>
        <source>&amp;Forget folder</source>
        <translation>Klasörü &amp;unut</translation>
    </message>
    <message>
        <source>looking …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model to see what it needs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n layers</source>
        <translation>
            <numerusform>%n katman</numerusform>
        </translation>
    </message>
    <message>
        <source>Sparse: many of its neurons are exactly zero and are skipped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Experts: each token uses only some of them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%1 and %n more files</source>
        <translation>
            <numerusform>%1 ve %n dosya daha</numerusform>
        </translation>
    </message>
    <message>
        <source>Kept by %1, used in place.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Offline: the folder %1 is not there now.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Main memory with a context of %1: predicted %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The limit is %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When it was loaded last: predicted %1, counted %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Unload</source>
        <translation>&amp;Bellekten çıkar</translation>
    </message>
    <message>
        <source>It is loaded; unload it first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Puts its files into the trash.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (%2 free)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (offline)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a folder with models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put %1 (%2) into the trash?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put into the &amp;trash</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::PlacementMap</name>
    <message>
        <source>main memory</source>
        <translation>ana bellek</translation>
    </message>
    <message>
        <source>Where the model lives</source>
        <translation>Modelin yaşadığı yer</translation>
    </message>
    <message>
        <source>%1 % in %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layers %1 to %2: attention in %3, neurons %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 % of the neurons were computed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>neurons, hottest first</source>
        <translation>nöronlar, önce en sıcak</translation>
    </message>
    <message>
        <source>cache</source>
        <translation>önbellek</translation>
    </message>
    <message>
        <source>%1 % computed</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::SettingsDialog</name>
    <message>
        <source>&amp;Tell me when a long reply ends and I look elsewhere</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep the computer &amp;awake while a model computes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Closing the &amp;window leaves an icon in the tray</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Ayarlar</translation>
    </message>
    <message>
        <source>&amp;General</source>
        <translation>&amp;Genel</translation>
    </message>
    <message>
        <source>&amp;Shortcuts</source>
        <translation>&amp;Kısayollar</translation>
    </message>
    <message>
        <source>&amp;Data and privacy</source>
        <translation>&amp;Veriler ve gizlilik</translation>
    </message>
    <message>
        <source>as the system</source>
        <translation>sistem gibi</translation>
    </message>
    <message>
        <source>%1 (begun; the rest is English)</source>
        <translation>%1 (başlandı; gerisi İngilizce)</translation>
    </message>
    <message>
        <source>Holds from the next start of Hearth.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>light</source>
        <translation>açık</translation>
    </message>
    <message>
        <source>dark</source>
        <translation>koyu</translation>
    </message>
    <message>
        <source> points</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shift+Enter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ctrl+Enter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as many as there are fast cores</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Holds from the next model that is loaded.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Language</source>
        <translation>&amp;Dil</translation>
    </message>
    <message>
        <source>&amp;Colours</source>
        <translation>&amp;Renkler</translation>
    </message>
    <message>
        <source>Text &amp;size of chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Messages are sent with</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>T&amp;hreads</source>
        <translation>İ&amp;ş parçacıkları</translation>
    </message>
    <message>
        <source>Everything is computed on this computer. Hearth sends nothing anywhere: no telemetry, no crash reports, no check for updates. Chats lie in the first of these folders, unencrypted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Aç</translation>
    </message>
    <message>
        <source>Open the folder %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::ShortcutsPage</name>
    <message>
        <source>As they &amp;were at first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is used twice: %2 and %3.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::SpeedGraph</name>
    <message>
        <source>Generation speed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>now %1, average %2, peak %3 tokens per second</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::SuspendBlock</name>
    <message>
        <source>A model is computing</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::Tray</name>
    <message>
        <source>&amp;Show Hearth</source>
        <translation>Hearth’ü &amp;göster</translation>
    </message>
    <message>
        <source>&amp;New chat</source>
        <translation>&amp;Yeni sohbet</translation>
    </message>
    <message>
        <source>&amp;Unload</source>
        <translation>&amp;Bellekten çıkar</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Çık</translation>
    </message>
    <message>
        <source>&amp;Unload %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hearth</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hearth: %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>hearth::ui::Welcome</name>
    <message>
        <source>Looking …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One of the models that are on this computer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Back</source>
        <translation>&amp;Geri</translation>
    </message>
    <message>
        <source>&amp;Skip</source>
        <translation>&amp;Atla</translation>
    </message>
    <message>
        <source>Welcome to Hearth</source>
        <translation>Hearth’e hoş geldiniz</translation>
    </message>
    <message>
        <source>The starter model is not installed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The starter model that comes with Hearth (%1): small, quick, and ready now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your computer</source>
        <translation>Bilgisayarınız</translation>
    </message>
    <message>
        <source>Hearth runs language models on this computer, also those that are bigger than the memory of its graphics card.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>I have models in a &amp;folder …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A first model</source>
        <translation>İlk model</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Gizlilik</translation>
    </message>
    <message>
        <source>Nothing leaves this computer. What you write and what is answered is computed here and kept here. There is no account, no telemetry, no crash report and no check for updates.</source>
        <translation>Hiçbir şey bu bilgisayardan çıkmaz. Yazdıklarınız ve yanıtlar burada hesaplanır ve burada saklanır. Hesap, telemetri, çökme raporu ve güncelleme denetimi yoktur.</translation>
    </message>
    <message>
        <source>Chats lie unencrypted in your data folder; Edit → Settings → Data and privacy says where.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>⚠ %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>✓ Processor: %n threads</source>
        <translation>
            <numerusform>✓ İşlemci: %n iş parçacığı</numerusform>
        </translation>
    </message>
    <message>
        <source>✓ Main memory: %1, %2 free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>⚠ %1 (%2): not used, %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>– %1 (%2), %3: this version does not compute on it yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>✓ %1 (%2): %3, %4 free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>✓ Disk: %1 free</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n in your folders</source>
        <translation>
            <numerusform>klasörlerinizde %n</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None were found so far. They are used where they are; nothing is moved or copied.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Found: %1. They are used where they are; nothing is moved or copied.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder with your models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Next</source>
        <translation>&amp;İleri</translation>
    </message>
    <message>
        <source>&amp;Start</source>
        <translation>&amp;Başla</translation>
    </message>
</context>
<context>
    <name>hearth::ui::Worker</name>
    <message>
        <source>there is not enough memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the system gave no more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a smaller context or a smaller model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>something went wrong in the engine</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <source>Chat with language models that are bigger than your graphics card.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A model file, and text files to attach; without a model the starter model answers.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
